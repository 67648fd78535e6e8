/** A tile: one figure of the library, and the marks on it that light up with a region. */
import { chooseBlocks, onlyRows, rowsChooser } from "./block.js";
import { FINENESS, lighten, painted, traceOf } from "./brain.js";
import { chooser } from "./controls.js";
import { button, element } from "./elements.js";
import { placesOf } from "./places.js";

const SVG = "http://www.w3.org/2000/svg";
const SIDES = {
  "from the left": { x: -1.25, y: 0, z: 0 },
  "from the right": { x: 1.25, y: 0, z: 0 },
  "from above": { x: 0, y: 0, z: 1.4 },
  "from the front": { x: 0, y: 1.4, z: 0 },
  "from behind": { x: 0, y: -1.4, z: 0 },
};
const LETTER = 6.5; // px, the width of a letter of a title, with what is above and below a figure
const NARROW = 320; // px, where names would leave a matrix no room
const STILL = 4; // px that a hand may move while it clicks

export class Tile {
  /** @param {import("./screen.js").Screen} screen  @param {string} name */
  constructor(screen, name) {
    this.screen = screen;
    this.name = name;
    this.box = element("section", "linked-tile");
    this.box.dataset.tile = name;
    this.head = this.box.appendChild(element("header"));
    this.plot = this.box.appendChild(element("div", "linked-plot"));
    this.plot.tabIndex = 0;
    this.caption = this.box.appendChild(element("p"));
    this.full = this.box.appendChild(element("p", "linked-full"));
    this.full.hidden = true;
    this.over = document.createElementNS(SVG, "svg");
    this.over.setAttribute("class", "linked-over");
    this.over.setAttribute("aria-hidden", "true");
    screen.grid.append(this.box);
    this.rows = ""; // the network whose rows alone a matrix shows
    this.drawing = 0; // how often plotly is drawing it now
    this.applied = []; // the changes of steps that are shown
    this.found = -1; // the region that plotly last found under the pointer
    /** @type {{clientX: number, clientY: number, shiftKey: boolean, person: string | null, region: number} | null} */
    this.down = null; // where the button went down, and on what; a drag turns the brain, or chooses a block
    this.followPointer();
    chooseBlocks(this);
  }

  close() {
    this.box.remove();
    this.places = null;
    if (!this.drawing) window.Plotly?.purge(this.plot); // or else once it is drawn
  }

  /** Show another figure, or the same with other numbers. */
  async show(data) {
    this.sent = data;
    this.makeHead(data);
    if (data.note) {
      this.caption.textContent = "";
      [this.places, this.inBrain] = [null, false];
      window.Plotly.purge(this.plot);
      this.plot.replaceChildren(element("p", "linked-note", data.note));
      this.listening = false;
      return;
    }
    if (!this.listening) this.plot.replaceChildren(); // what was said in its place
    await this.draw();
    if (!this.listening && !this.screen.ended.signal.aborted) this.listen();
  }

  makeHead({ title, choices, value, asks, figure, details }) {
    const what = choices
      ? chooser({ choices, value }, (place) => this.screen.choose(this.name, place, false))
      : element("strong", "", title);
    if (choices) what.setAttribute("aria-label", "What this tile shows");
    const large = this.box.classList.contains("linked-large");
    const sides = figure?.layout.scene && !figure.layout.scene2
      ? chooser({ choices: ["View", ...Object.keys(SIDES)], value: 0 }, (place) => this.turn(place))
      : element("span");
    if (sides.tagName === "SELECT") sides.setAttribute("aria-label", "Side from which the brain is seen");
    const asked = asks.map((control) => {
      const one = chooser(control, (place) => this.screen.choose(control.name, place, false));
      one.setAttribute("aria-label", control.title);
      one.title = control.help;
      return one;
    });
    this.head.replaceChildren(
      what,
      ...asked,
      ...rowsChooser(this, figure),
      sides,
      element("span", "linked-space"),
      ...(details ? [button("↗", `Details on the page ${details}`, () => this.screen.tell({ details: this.name }))] : []),
      ...(figure ? [button("i", "Full caption", () => { this.full.hidden = !this.full.hidden; })] : []),
      button(large ? "⤡" : "⤢", large ? "As small as before" : "Enlarge", () => this.enlarge()),
      ...(figure ? [button("+", "Add to export", () => this.export())] : []),
    );
  }

  /** See the brain from a side. */
  turn(place) {
    const eye = Object.values(SIDES)[place - 1];
    if (eye) window.Plotly.relayout(this.plot, { "scene.camera.eye": eye, "scene.camera.up": { x: 0, y: eye.z ? 1 : 0, z: eye.z ? 0 : 1 } });
  }

  /** Put the figure into the export as it is seen: some are of the region that was last lit. */
  export() {
    this.screen.tell({ export: this.name, region: this.screen.steps.get("region") ?? 0 });
  }

  enlarge() {
    const large = this.box.classList.toggle("linked-large");
    this.screen.grid.classList.toggle("linked-one", large);
    this.makeHead(this.sent);
    this.resize();
  }

  /** Show what the chosen steps change in the figure as it was sent. */
  async change() {
    if (!this.sent?.figure) return;
    const changes = this.screen.changesOf(this.sent);
    if (changes.length !== this.applied.length || changes.some((change, i) => change !== this.applied[i])) await this.draw();
  }

  async draw() {
    if (this.screen.ended.signal.aborted) return;
    const whole = { ...this.sent };
    this.applied = this.screen.changesOf(this.sent);
    for (const [path, value] of this.applied) put(whole, path, value);
    const { figure, caption, full } = whole;
    this.caption.textContent = caption;
    this.full.textContent = full;
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", full);
    const told = this.screen.frame?.cells; // what a map says of a cell stands below all maps
    const data = figure.data.map((trace) => {
      if (trace.part) return traceOf(this.screen.parts.get(trace.part).trace);
      if (trace.regional) return painted(trace);
      if (trace.type === "mesh3d") return traceOf(trace);
      return told && trace.type === "heatmap" ? { ...trace, hovertemplate: undefined, hoverinfo: "none" } : trace;
    });
    const place = { width: this.plot.clientWidth, height: this.plot.clientHeight, autosize: false };
    const framed = { ...fitted(withTitlesInLines(figure.layout, place.height), data, place), ...place, ...this.screen.theme() };
    const layout = withLasso(onlyRows(framed, data, this.rows), data);
    this.drawing += 1;
    await window.Plotly.react(this.plot, data, layout, { displayModeBar: false, responsive: false, ...FINENESS });
    this.drawing -= 1;
    if (this.screen.ended.signal.aborted) return this.close();
    this.resize(); // its place may have changed meanwhile
    if (!this.over.isConnected) this.plot.append(this.over);
    this.inBrain = Boolean(layout.scene);
    this.places = placesOf(this.plot);
    if (this.inBrain && !this.places.picked) lighten(this.plot);
    this.light(this.screen.lit, this.screen.pinned);
  }

  resize() {
    const now = this.plot._fullLayout;
    if (!now) return;
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (!width || !height || (width === now.width && height === now.height)) return;
    window.Plotly.relayout(this.plot, { width, height }).then(() => this.light(this.screen.lit, this.screen.pinned));
  }

  listen() {
    this.listening = true;
    const hover = (region, column) => {
      if (this.down) return; // plotly forgets what is under the pointer while a button is down
      this.found = region;
      this.screen.hover(region, column, this);
    };
    this.plot.on("plotly_hover", ({ points }) => hover(...this.places.pairAt(points[0])));
    this.plot.on("plotly_unhover", () => hover(-1));
    this.plot.on("plotly_selected", (event) => {
      const found = (event?.points ?? []).map((point) => this.places.regionAt(point)).filter((region) => region >= 0);
      if (!found.length) return;
      this.screen.collect(found);
      window.Plotly.update(this.plot, { selectedpoints: null }, { selections: [] }); // what is pinned is marked here
    });
    for (const name of ["plotly_relayouting", "plotly_relayout"])
      this.plot.on(name, () => this.light(this.screen.lit, this.screen.pinned));
  }

  /**
   * In a brain of nodes, plotly tells nothing of the region under the pointer. Clicks are not plotly's either: it tells
   * of none in a brain, and elsewhere of none whose place it was still looking up when the button went down. So what
   * is clicked is found here, where the button goes down.
   */
  followPointer() {
    const at = ({ clientX, clientY }) => { // in whole px, as plotly is told of them
      const { left, top } = this.plot.getBoundingClientRect();
      return [Math.floor(clientX) - left, Math.floor(clientY) - top];
    };
    this.plot.addEventListener("pointermove", (event) => {
      if (!this.inBrain || this.places.picked || event.buttons) return;
      this.screen.hover(this.places.regionUnder(...at(event)), -1, this);
    });
    this.plot.addEventListener("pointerleave", () => { if (!this.down) this.screen.hover(-1); });
    this.plot.addEventListener("pointerdown", (event) => {
      const { clientX, clientY, button, shiftKey } = event;
      this.down = button || !this.places ? null : { clientX, clientY, shiftKey, ...this.markAt(...at(event)) };
    }, true);
    window.addEventListener("pointerup", ({ clientX, clientY }) => { // plotly puts a cover over the window
      const { down } = this;
      this.down = null;
      if (down && Math.hypot(clientX - down.clientX, clientY - down.clientY) < STILL) this.click(down);
      else if (down) this.screen.hover(-1);
    }, { signal: this.screen.ended.signal, capture: true });
  }

  /** The person or the region whose mark is at a place of the figure. */
  markAt(x, y) {
    const region = this.places.regionUnder(x, y);
    return { person: this.places.personUnder(x, y), region: region < 0 ? this.found : region };
  }

  click({ person, region, shiftKey }) {
    if (person !== null) return this.screen.tell({ person });
    if (this.screen.hovered !== region) this.screen.hover(region, -1, this);
    return this.screen.pin(region, shiftKey);
  }

  /**
   * Draw what stands for the region that is lit, and for those that are pinned, over the figure.
   * @param {number} lit
   * @param {number[]} pinned
   * @param {number} [column] of the cell under the cursor, in the row of the one that is lit
   */
  light(lit, pinned, column = this.screen.column) {
    if (!this.places) return;
    const connections = this.screen.part("connections");
    const marks = [];
    for (const region of new Set([...pinned, lit])) {
      if (region < 0) continue;
      const look = region === lit ? "linked-lit" : "linked-pinned";
      for (const shape of this.places.shapesOf(region, connections, region === lit ? column : -1)) marks.push(drawn(shape, look));
    }
    const { block } = this.screen;
    if (block) marks.push(...this.blockMarks(block));
    this.over.replaceChildren(...marks, ...(this.inBrain ? this.nameOf(lit) : []));
  }

  /** A block as rectangles on every matrix, or its strongest connections in a brain. */
  blockMarks({ rows, columns, pairs = [] }) {
    const { squares } = this.places;
    const shapes = squares.length ? squares.flatMap((map) => this.places.rectanglesOf(map, rows, columns)) : this.places.linesOf(pairs);
    return shapes.map((shape) => drawn(shape, "linked-block"));
  }

  /** Show only the rows of one network of a matrix, or all of them. @param {string} name */
  showRows(name) {
    this.rows = name;
    this.makeHead(this.sent);
    return this.draw();
  }

  /** Show a block that is being chosen. */
  showBlock(block) {
    this.over.replaceChildren(...this.blockMarks(block));
  }

  /** The name of a region beside it in the brain. */
  nameOf(region) {
    const here = region < 0 ? null : this.places.on(region);
    if (!here) return [];
    const left = here[0] > this.plot.clientWidth / 2;
    const about = { x: here[0] + (left ? -12 : 12), y: here[1] - 10, "text-anchor": left ? "end" : "start" };
    const name = drawn({ kind: "text", ...about }, "linked-text");
    name.textContent = this.screen.frame.regions[region];
    return [name];
  }
}

/** Regions that are points on axes are collected by drawing around them. */
function withLasso(layout, data) {
  const points = data.some(({ type, customdata }) => type === "scatter" && customdata);
  return points && !layout.scene ? { dragmode: "lasso", ...layout } : layout;
}

/** Titles beside a low figure in two lines, so that none is cut. */
function withTitlesInLines(layout, height) {
  const fits = Math.floor(height / LETTER);
  const changed = Object.entries(layout).filter(([name, axis]) => name.startsWith("yaxis") && axis.title?.text?.length > fits);
  const broken = changed.map(([name, axis]) => {
    const { text } = axis.title;
    const middle = text.indexOf(" ", text.length / 2 - 4);
    return [name, { ...axis, title: { ...axis.title, text: `${text.slice(0, middle)}<br>${text.slice(middle + 1)}` } }];
  });
  return { ...layout, ...Object.fromEntries(broken) };
}

/** A figure for a narrow place: the brain further away, and names beside a matrix left to the cursor. */
function fitted(layout, data, { width, height }) {
  const { scene, scene2, yaxis, margin } = layout;
  const slim = (height - margin.t - margin.b) / (width - margin.l - margin.r);
  if (scene && !scene2 && slim > 1) {
    const eye = Object.fromEntries(Object.entries(scene.camera.eye).map(([name, value]) => [name, slim * value]));
    return { ...layout, scene: { ...scene, camera: { ...scene.camera, eye } } };
  }
  const named = width < NARROW && data.some(({ type, meta }) => type === "heatmap" && meta?.blocks);
  return named ? { ...layout, yaxis: { ...yaxis, showticklabels: false } } : layout;
}

/** Put a value into a copy of whatever holds it; what was sent stays as it was. */
function put(contents, path, value) {
  let place = contents;
  path.slice(0, -1).forEach((name) => {
    place[name] = Array.isArray(place[name]) ? [...place[name]] : { ...place[name] };
    place = place[name];
  });
  place[path.at(-1)] = value;
}

/** @param {{kind: string, [about: string]: any}} shape in px  @param {string} look */
function drawn({ kind, ...about }, look) {
  const made = document.createElementNS(SVG, kind);
  made.setAttribute("class", look);
  for (const [name, value] of Object.entries(about)) made.setAttribute(name, String(value));
  return made;
}
