/** Where the regions of a drawn figure are on the screen, in px, whatever kind of plot it is. */

const LEAST_RADIUS = 5; // px, within which a small region is found

/** @param {any} plot an element that plotly has drawn in */
export function placesOf(plot) {
  return plot._fullLayout.scene ? new PlacesInBrain(plot) : new PlacesOnAxes(plot);
}

class PlacesOnAxes {
  constructor(plot) {
    this.plot = plot;
    this.points = new Map(); // region -> [trace, number of the point] pairs
    this.maps = []; // traces of matrices, with where each region is
    this.chords = []; // traces of chords, with the regions that each joins
    plot._fullData.forEach((trace) => {
      const rows = trace.meta?.regions;
      if (trace.meta?.chords) this.chords.push({ trace, ends: trace.meta.chords });
      if (trace.type === "heatmap" && rows) {
        const ids = Array.from(rows);
        this.maps.push({ trace, ids, at: new Map(ids.map((region, place) => [region, place])) });
      } else if (trace.customdata && trace.type !== "heatmap") {
        Array.from(trace.customdata).forEach((region, i) => {
          if (!this.points.has(region)) this.points.set(region, []);
          this.points.get(region).push([trace, i]);
        });
      }
    });
  }

  regionUnder() {
    return -1;
  }

  regionAt(point) {
    const map = this.maps.find(({ trace }) => trace.index === point.curveNumber);
    if (map) return map.ids[point.pointIndex[0]] ?? -1;
    const region = point.customdata;
    return Number.isInteger(region) ? region : -1;
  }

  shapesOf(region) {
    const layout = this.plot._fullLayout;
    const shapes = [];
    for (const { trace, at } of this.maps) {
      const [xa, ya] = [axis(layout, trace.xaxis), axis(layout, trace.yaxis)];
      const place = at.get(region);
      if (place === undefined) continue;
      const y = ya._offset + ya.c2p(place);
      shapes.push({ kind: "line", x1: xa._offset, x2: xa._offset + xa._length, y1: y, y2: y });
      if (xa.type !== "category") continue;
      const x = xa._offset + xa.c2p(place);
      shapes.push({ kind: "line", x1: x, x2: x, y1: ya._offset, y2: ya._offset + ya._length });
    }
    shapes.push(...this.chordsOf(region));
    for (const [trace, i] of this.points.get(region) ?? []) {
      const [xa, ya] = [axis(layout, trace.xaxis), axis(layout, trace.yaxis)];
      const [cx, cy] = [xa._offset + xa.d2p(trace.x[i]), ya._offset + ya.d2p(trace.y[i])];
      if (Number.isFinite(cx) && Number.isFinite(cy)) shapes.push({ kind: "circle", cx, cy, r: 6 });
    }
    return shapes;
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

  regionAt() {
    return -1;
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
    const [x1, y1] = here;
    const shapes = [];
    (connections?.ends[region] ?? []).forEach((other, i) => {
      const there = this.on(other);
      if (there) shapes.push({ kind: "line", x1, y1, x2: there[0], y2: there[1], "stroke-width": connections.widths[region][i] });
    });
    return [...shapes, { kind: "circle", cx: x1, cy: y1, r: this.nodes.get(region).radius + 3 }];
  }

  /** Where a region is seen now, as plotly places notes in 3-D: x and y in px, and how far away. */
  on(region) {
    const node = this.nodes.get(region);
    const { scene, _size: size } = this.plot._fullLayout;
    const drawn = scene._scene;
    if (!node || !drawn?.glplot) return null;
    const { model, view, projection } = drawn.glplot.cameraParams;
    let place = [...node.at.map((value, i) => value * drawn.dataScale[i]), 1];
    for (const matrix of [model, view, projection]) place = times(matrix, place);
    const [wide, high] = [scene.domain.x, scene.domain.y].map(([from, to]) => to - from);
    const x = size.l + size.w * (scene.domain.x[0] + wide * 0.5 * (1 + place[0] / place[3]));
    const y = size.t + size.h * (1 - scene.domain.y[1] + high * 0.5 * (1 - place[1] / place[3]));
    return [x, y, place[2] / place[3]];
  }
}

function axis(layout, name) {
  return layout[`${name[0]}axis${name.slice(1)}`];
}

/** A 4 x 4 matrix, column after column, times a vector. */
function times(matrix, vector) {
  return [0, 1, 2, 3].map((row) => vector.reduce((sum, value, column) => sum + matrix[4 * column + row] * value, 0));
}
