/** Where the regions of a drawn figure are on the screen, in px, whatever kind of plot it is. */

const LEAST_RADIUS = 5; // px, within which a small region is found
const REACH = 20; // px, within which plotly finds a point

/** @param {any} plot an element that plotly has drawn in */
export function placesOf(plot) {
  if (!plot._fullLayout.scene) return new PlacesOnAxes(plot);
  const painted = plot._fullData.some((trace) => trace.type === "mesh3d" && trace.customdata);
  return painted ? new PlacesOnCortex(plot) : new PlacesInBrain(plot);
}

class PlacesOnAxes {
  constructor(plot) {
    this.plot = plot;
    this.points = new Map(); // region -> [trace, number of the point] pairs
    this.maps = []; // traces of matrices, with where each region is
    this.chords = []; // traces of chords, with the regions that each joins
    /** @type {[any, number, string][]} a trace, the number of the point, and the person it stands for */
    this.people = [];
    plot._fullData.forEach((trace) => {
      const rows = trace.meta?.regions;
      trace.meta?.people?.forEach((person, i) => this.people.push([trace, i, person]));
      if (trace.meta?.chords) this.chords.push({ trace, ends: trace.meta.chords });
      if (trace.type === "heatmap" && rows) {
        const ids = Array.from(rows);
        const at = new Map(ids.map((region, place) => [region, place]));
        this.maps.push({ trace, ids, at, blocks: trace.meta.blocks ?? [] });
      } else if (trace.customdata && trace.type !== "heatmap") {
        Array.from(trace.customdata).forEach((region, i) => {
          if (!this.points.has(region)) this.points.set(region, []);
          this.points.get(region).push([trace, i]);
        });
      }
    });
  }

  /** The region under the cursor, as plotly will find it: of a cell's row, or of the nearest point; -1 for none. */
  regionUnder(x, y) {
    for (const map of this.maps) {
      const cell = this.cellAt(map, x, y);
      if (cell) return map.ids[cell[0]];
    }
    const points = [...this.points].flatMap(([region, all]) => all.map(([trace, i]) => [trace, i, region]));
    return this.nearest(points, x, y) ?? -1;
  }

  /** The person whose dot is under the cursor; null for none. */
  personUnder(x, y) {
    return this.nearest(this.people, x, y);
  }

  /** What the nearest point stands for, within reach; in figures that answer along a whole column, the nearest column. */
  nearest(points, x, y) {
    const { hovermode } = this.plot._fullLayout;
    let [found, least] = [null, REACH];
    for (const [trace, i, what] of points) {
      const [cx, cy] = this.pointOn(trace, i);
      const away = String(hovermode).startsWith("x") ? Math.abs(cx - x) : Math.hypot(cx - x, cy - y);
      if (away < least) [found, least] = [what, away];
    }
    return found;
  }

  /** Where a point of a trace is seen. */
  pointOn({ xaxis, yaxis, x, y }, i) {
    const [xa, ya] = [xaxis, yaxis].map((name) => axis(this.plot._fullLayout, name));
    return [xa._offset + xa.d2p(x[i]), ya._offset + ya.d2p(y[i])];
  }

  regionAt(point) {
    const map = this.maps.find(({ trace }) => trace.index === point.curveNumber);
    if (map) return map.ids[point.pointIndex[0]] ?? -1;
    const region = point.customdata;
    return Number.isInteger(region) ? region : -1;
  }

  /** The region at a point and, of a cell of a map, the region of its column; -1 for none. */
  pairAt(point) {
    const map = this.maps.find(({ trace }) => trace.index === point.curveNumber);
    const square = map && map.trace.z[0].length === map.ids.length;
    return [this.regionAt(point), square ? map.ids[point.pointIndex[1]] ?? -1 : -1];
  }

  shapesOf(region, connections, column = -1) {
    const layout = this.plot._fullLayout;
    const shapes = [];
    for (const { trace, at } of this.maps) {
      const [xa, ya] = [axis(layout, trace.xaxis), axis(layout, trace.yaxis)];
      const place = at.get(region);
      if (place === undefined) continue;
      const y = ya._offset + ya.c2p(place);
      shapes.push({ kind: "line", x1: xa._offset, x2: xa._offset + xa._length, y1: y, y2: y });
      if (xa.type !== "category") continue;
      const x = xa._offset + xa.c2p(at.get(column) ?? place);
      shapes.push({ kind: "line", x1: x, x2: x, y1: ya._offset, y2: ya._offset + ya._length });
    }
    shapes.push(...this.chordsOf(region));
    for (const [trace, i] of this.points.get(region) ?? []) {
      const [cx, cy] = this.pointOn(trace, i);
      if (Number.isFinite(cx) && Number.isFinite(cy)) shapes.push({ kind: "circle", cx, cy, r: 6 });
    }
    return shapes;
  }

  /** The maps of a tile whose rows and columns are the same regions. */
  get squares() {
    return this.maps.filter(({ trace }) => axis(this.plot._fullLayout, trace.xaxis).type === "category");
  }

  /**
   * The row and the column of a map under the cursor, or null beside the map.
   * @param {boolean} nearest whether a place beside the map is that at its edge
   */
  cellAt(map, x, y, nearest = false) {
    const layout = this.plot._fullLayout;
    const found = [[map.trace.yaxis, y], [map.trace.xaxis, x]].map(([name, px]) => {
      const along = axis(layout, name);
      const inside = px - along._offset;
      if (!nearest && (inside < 0 || inside > along._length)) return -1;
      const [low, high] = rangeOf(along);
      const place = Math.round(along.p2l(inside));
      return Math.min(Math.max(place, Math.ceil(low), 0), Math.floor(high), map.ids.length - 1);
    });
    return found.includes(-1) ? null : found;
  }

  /** The block of rows whose name is under the cursor; null where there is none. */
  blockNamedAt(map, x, y) {
    const here = this.plot.getBoundingClientRect();
    const names = [...this.plot.querySelectorAll(`.${map.trace.yaxis}tick text`)];
    const place = names.findIndex((name) => {
      const { left, right, top, bottom } = name.getBoundingClientRect();
      return x + here.left >= left && x + here.left <= right && y + here.top >= top && y + here.top <= bottom;
    });
    const [low, high] = rangeOf(axis(this.plot._fullLayout, map.trace.yaxis));
    return map.blocks.filter(([, start, end]) => start < high && end - 1 > low)[place] ?? null;
  }

  /** Rectangles around some rows and columns, as many as they are apart. */
  rectanglesOf(map, rows, columns) {
    const layout = this.plot._fullLayout;
    const [xa, ya] = [axis(layout, map.trace.xaxis), axis(layout, map.trace.yaxis)];
    const [down, across] = [rows, columns].map((regions) => runs(regions.map((region) => map.at.get(region))));
    const clip = (along, place) => Math.min(Math.max(along.l2p(place), 0), along._length);
    return down.flatMap(([top, bottom]) => across.map(([left, right]) => {
      const [x, wide] = [clip(xa, left - 0.5), clip(xa, right + 0.5)];
      const [y, low] = [clip(ya, top - 0.5), clip(ya, bottom + 0.5)];
      return { kind: "rect", x: xa._offset + x, y: ya._offset + y, width: wide - x, height: low - y };
    }));
  }

  linesOf() {
    return [];
  }

  /** The chords of a region; in a trace all have as many points, with a gap behind each. */
  chordsOf(region) {
    return this.chords.flatMap(({ trace, ends }) => {
      const [xa, ya] = [trace.xaxis, trace.yaxis].map((name) => axis(this.plot._fullLayout, name));
      const long = trace.x.length / ends.length;
      return ends.flatMap((pair, i) => {
        if (!pair.includes(region)) return [];
        const points = Array.from({ length: long - 1 }, (_, j) => i * long + j);
        const at = points.map((j) => `${xa._offset + xa.d2p(trace.x[j])},${ya._offset + ya.d2p(trace.y[j])}`);
        return [{ kind: "polyline", points: at.join(" ") }];
      });
    });
  }
}

/** Regions in a brain that turns. Plotly's own picking stops at the cortex around them, so they are found here. */
class PlacesInBrain {
  constructor(plot) {
    this.plot = plot;
    /** @type {Map<number, {at: number[], radius: number}>} */
    this.nodes = new Map();
    plot._fullData.forEach((trace) => {
      if (trace.type !== "scatter3d" || !trace.customdata) return;
      const { size } = trace.marker;
      Array.from(trace.customdata).forEach((region, i) => this.nodes.set(region, {
        at: [trace.x[i], trace.y[i], trace.z[i]],
        radius: (typeof size === "number" ? size : size[i]) / 2,
      }));
    });
  }

  pairAt() {
    return [-1, -1];
  }

  personUnder() {
    return null;
  }

  /** The region under the cursor, the nearest to the eye of several; -1 for none. */
  regionUnder(x, y) {
    let [found, nearest] = [-1, Infinity];
    for (const [region, { radius }] of this.nodes) {
      const here = this.on(region);
      if (!here || Math.hypot(here[0] - x, here[1] - y) > Math.max(radius, LEAST_RADIUS)) continue;
      if (here[2] < nearest) [found, nearest] = [region, here[2]];
    }
    return found;
  }

  shapesOf(region, connections) {
    const here = this.on(region);
    if (!here) return [];
    const ends = connections?.ends[region] ?? [];
    const lines = this.linesOf(ends.map((other, i) => [region, other, connections.widths[region][i]]));
    return [...lines, { kind: "circle", cx: here[0], cy: here[1], r: this.nodes.get(region).radius + 3 }];
  }

  /** Lines between pairs of regions. @param {[number, number, number][]} pairs two regions and a width */
  linesOf(pairs) {
    return pairs.flatMap(([first, second, width]) => {
      const [here, there] = [this.on(first), this.on(second)];
      if (!here || !there) return [];
      return [{ kind: "line", x1: here[0], y1: here[1], x2: there[0], y2: there[1], "stroke-width": width }];
    });
  }

  get squares() {
    return [];
  }

  /** Where a region is seen now: x and y in px, and how far away. */
  on(region) {
    const node = this.nodes.get(region);
    return node ? seenAt(this.plot, "scene", node.at) : null;
  }
}

/** Regions painted on a cortex that is seen from several sides: each is where it faces the eye. */
class PlacesOnCortex {
  constructor(plot) {
    this.plot = plot;
    this.picked = true; // plotly itself finds the triangle under the cursor
    /** @type {Map<number, {scene: string, at: number[]}[]>} the middles of a region, view by view */
    this.views = new Map();
    const found = new Map(); // by view and region: sums of what faces the eye, and how much does not
    plot._fullData.filter((trace) => trace.type === "mesh3d" && trace.customdata).forEach((trace) => addFaces(plot, trace, found));
    for (const { scene, region, toward, away, sum } of found.values()) {
      if (toward <= away) continue; // mostly on the other side
      if (!this.views.has(region)) this.views.set(region, []);
      this.views.get(region).push({ scene, at: sum.map((value) => value / toward) });
    }
  }

  get squares() {
    return [];
  }

  regionUnder() {
    return -1;
  }

  personUnder() {
    return null;
  }

  /** The region of a triangle that plotly found under the cursor, and no column. */
  pairAt({ curveNumber, pointNumber }) {
    return [this.plot._fullData[curveNumber]?.customdata?.[pointNumber] ?? -1, -1];
  }

  shapesOf(region, connections) {
    const ends = connections?.ends[region] ?? [];
    const lines = this.linesOf(ends.map((other, i) => [region, other, connections.widths[region][i]]));
    return [...lines, ...this.seen(region).map(([cx, cy]) => ({ kind: "circle", cx, cy, r: 7 }))];
  }

  /** Where a region is first seen. */
  on(region) {
    return this.seen(region)[0] ?? null;
  }

  seen(region) {
    const views = this.views.get(region) ?? [];
    return views.map(({ scene, at }) => seenAt(this.plot, scene, at)).filter((here) => here);
  }

  /** Lines between pairs of regions, in every view that shows both. @param {[number, number, number][]} pairs */
  linesOf(pairs) {
    return pairs.flatMap(([first, second, width]) => (this.views.get(first) ?? []).flatMap(({ scene, at }) => {
      const other = this.views.get(second)?.find((one) => one.scene === scene);
      const [here, there] = [at, other?.at].map((place) => place && seenAt(this.plot, scene, place));
      return here && there ? [{ kind: "line", x1: here[0], y1: here[1], x2: there[0], y2: there[1], "stroke-width": width }] : [];
    }));
  }
}

/** Add the triangles of one trace to the middles of their regions, by how large each is and whether it faces the eye. */
function addFaces(plot, { x, y, z, i, j, k, customdata, scene }, found) {
  const { eye } = plot._fullLayout[scene].camera;
  const corner = (vertex) => [x[vertex], y[vertex], z[vertex]];
  customdata.forEach((region, face) => {
    if (region < 0) return;
    const [a, b, c] = [corner(i[face]), corner(j[face]), corner(k[face])];
    const [u, v] = [minus(b, a), minus(c, a)];
    const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const faces = normal[0] * eye.x + normal[1] * eye.y + normal[2] * eye.z;
    const name = `${scene} ${region}`;
    if (!found.has(name)) found.set(name, { scene, region, toward: 0, away: 0, sum: [0, 0, 0] });
    const one = found.get(name);
    if (faces <= 0) { one.away -= faces; return; }
    one.toward += faces;
    one.sum = one.sum.map((value, axis) => value + (faces * (a[axis] + b[axis] + c[axis])) / 3);
  });
}

function minus(one, other) {
  return one.map((value, place) => value - other[place]);
}

/** Where a place in a scene is seen, as plotly places notes in 3-D: x and y in px, and how far away. */
function seenAt(plot, name, at) {
  const { [name]: scene, _size: size } = plot._fullLayout;
  const drawn = scene._scene;
  if (!drawn?.glplot) return null;
  const { model, view, projection } = drawn.glplot.cameraParams;
  let place = [...at.map((value, i) => value * drawn.dataScale[i]), 1];
  for (const matrix of [model, view, projection]) place = times(matrix, place);
  const [wide, high] = [scene.domain.x, scene.domain.y].map(([from, to]) => to - from);
  const x = size.l + size.w * (scene.domain.x[0] + wide * 0.5 * (1 + place[0] / place[3]));
  const y = size.t + size.h * (1 - scene.domain.y[1] + high * 0.5 * (1 - place[1] / place[3]));
  return [x, y, place[2] / place[3]];
}

function axis(layout, name) {
  return layout[`${name[0]}axis${name.slice(1)}`];
}

/** The lowest place and the highest that an axis shows. */
function rangeOf(along) {
  return [...along._rl].sort((a, b) => a - b);
}

/** First and last of each run of whole numbers that follow each other. @param {number[]} places */
function runs(places) {
  const found = [];
  for (const place of places.filter((one) => one !== undefined).sort((a, b) => a - b)) {
    if (found.length && place === found.at(-1)[1] + 1) found.at(-1)[1] = place;
    else found.push([place, place]);
  }
  return found;
}

/** A 4 x 4 matrix, column after column, times a vector. */
function times(matrix, vector) {
  return [0, 1, 2, 3].map((row) => vector.reduce((sum, value, column) => sum + matrix[4 * column + row] * value, 0));
}
