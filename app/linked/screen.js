/** One linked screen: its controls, its tiles, the line about a region, and which regions are hovered or pinned. */
import { makeBlock } from "./block.js";
import { wordsOf } from "./cells.js";
import { makeControls } from "./controls.js";
import { button, element } from "./elements.js";
import { plotly } from "./plotly.js";
import { Tile } from "./tile.js";

const NONE = -1;
const REST = 700; // ms without a further step, after which Python is told of the last
const SOON = 1000; // ms within which a brain is drawn even where the page is busy

export class Screen {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.screen = this; // for tests and benchmarks
    /** @type {(name: string, value: any) => void} */
    this.say = () => {};
    /** @type {Map<string, Tile>} */
    this.tiles = new Map();
    /** @type {Map<string, any>} what is no tile: facts of regions, connections, and what steps change */
    this.parts = new Map();
    /** @type {Map<string, number>} the step that is shown, by what it is a step of */
    this.steps = new Map();
    this.hovered = NONE;
    this.column = NONE; // of the cell under the cursor, whose row is the region that is hovered
    /** @type {Tile | null} */
    this.under = null; // the tile under the cursor
    /** @type {number[]} the last one is what the line below is about */
    this.pinned = [];
    /** @type {import("./block.js").Block | null} the chosen block of the matrix in the tile of that name */
    this.block = null;
    this.untold = {}; // chosen, while the hand does not rest
    /** @type {{at: number, [about: string]: any}[]} told, and not yet in any frame that came back */
    this.unheard = [];
    this.asked = 0; // when Python was last asked for something to wait for
    const top = root.appendChild(element("div", "linked-top"));
    this.heads = top.appendChild(element("div", "linked-controls"));
    this.bar = top.appendChild(element("div", "linked-controls"));
    this.finder = top.appendChild(element("div", "linked-finder"));
    this.persons = this.finder.appendChild(element("span", "linked-persons"));
    this.search = this.finder.appendChild(element("input"));
    Object.assign(this.search, { type: "search", placeholder: "Find a region" });
    this.search.setAttribute("aria-label", "Find a region");
    this.names = this.finder.appendChild(element("datalist"));
    this.names.id = "linked-names";
    this.search.setAttribute("list", this.names.id);
    this.search.addEventListener("change", () => {
      const region = this.frame.regions.indexOf(this.search.value);
      if (region >= 0) this.collect([region]);
    });
    this.grid = root.appendChild(element("div", "linked-tiles"));
    this.line = root.appendChild(element("p", "linked-line"));
    this.line.setAttribute("role", "status");
    this.verdict = root.appendChild(element("p", "linked-verdict"));
    this.ended = new AbortController();
    const { signal } = this.ended;
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("pointerdown", (event) => {
      if (!root.contains(event.target)) this.tell(); // whoever leaves the page takes along what was chosen
    }, { signal, capture: true });
    this.sizes = new ResizeObserver(() => this.tiles.forEach((tile) => tile.resize()));
  }

  close() {
    this.ended.abort();
    this.sizes.disconnect();
    this.tiles.forEach((tile) => tile.close());
  }

  /** Take what Python sent: the frame of the screen, a tile, or something that tiles need. */
  async receive(data) {
    if (!data.part) {
      this.frame = data;
      this.unheard = this.unheard.filter(({ at }) => at > data.heard);
      const choices = this.unheardChoices();
      const told = this.unheard.some(({ pinned }) => pinned);
      if (!told && data.pinned.at(-1) !== this.pinned.at(-1)) this.pinned = data.pinned; // Python knows the last alone
      for (const [by, step] of Object.entries({ ...data.steps, ...choices })) this.steps.set(by, step);
      const chosen = (name, value, live) => this.choose(name, value, live);
      makeControls(this.heads, data.heads, choices, chosen);
      makeControls(this.bar, data.controls, choices, chosen);
      this.makeFinder();
      this.root.classList.toggle("linked-cells", data.cells);
      this.grid.classList.toggle("linked-rows", data.wide.length > 0);
      this.grid.style.setProperty("--maps", data.maps);
      data.tiles.forEach((name, place) => { // each has its place before it is drawn
        const { box } = this.tile(name);
        box.style.order = String(place);
        box.classList.toggle("linked-wide", data.wide.includes(name));
        box.classList.toggle("linked-broad", data.broad.includes(name));
      });
      this.root.classList.toggle("linked-busy", data.heard < this.asked);
    } else if (data.figure || data.note) {
      this.tile(data.part).latest = data;
    } else {
      this.parts.set(data.part, data);
    }
    await this.showTiles();
    await this.takeSteps();
    this.light();
  }

  /** Whether what was sent under a name is of what is chosen now, and not of an earlier choice. @param {string} name */
  isCurrent(name) {
    const shown = Object.assign({}, ...[...this.parts.values()].map(({ versions }) => versions));
    return shown[name] === this.frame?.versions[name];
  }

  /** What is known under a name of what is chosen now. @param {string} name */
  part(name) {
    return this.isCurrent(name) ? this.parts.get(name) : undefined;
  }

  /** Show the tiles that came; the old picture of any other stays, greyed. */
  async showTiles() {
    await plotly();
    if (this.showing) return; // it goes on until nothing waits
    this.showing = true;
    for (let ready; (ready = await this.readyTiles()).length; await pause())
      for (const tile of ready) {
        await tile.show(tile.latest);
        if (this.block?.tile === tile) this.block = this.blockOf(tile, this.block.rows, this.block.columns);
      }
    this.showing = false;
    for (const { box, name, sent } of this.tiles.values())
      box.classList.toggle("linked-stale", sent !== undefined && !this.isCurrent(name));
  }

  /** Tiles to be shown next: one that shows nothing yet or, once all are there, those whose picture changes together. */
  async readyTiles() {
    const waiting = [...this.tiles.values()].filter(({ latest, sent }) => latest !== sent
      && (latest.figure?.data ?? []).every(({ part }) => !part || this.parts.has(part)));
    const [first, ...others] = waiting.filter(({ sent }) => !sent).sort((one, other) => inSpace(one) - inSpace(other));
    if (first && inSpace(first) && !others.length && !this.idled) {
      this.idled = true;
      await idle(); // a brain takes longest: what else comes is shown first
      return this.readyTiles();
    }
    if (first) return [first];
    const complete = this.frame?.together.every((name) => this.isCurrent(name));
    return waiting.filter(({ name }) => complete || !this.frame?.together.includes(name));
  }

  /** @param {string} name */
  tile(name) {
    if (!this.tiles.has(name)) {
      const tile = new Tile(this, name);
      this.tiles.set(name, tile);
      this.sizes.observe(tile.plot);
    }
    return this.tiles.get(name);
  }

  /** The subjects before and after, and a region by its name. */
  makeFinder() {
    const { people, regions, simulated } = this.frame;
    const go = (sign, label, person) => {
      const made = button(sign, label, () => this.tell({ person }));
      made.disabled = !person;
      return made;
    };
    if (this.finder.dataset.of !== String(regions.length)) {
      this.finder.dataset.of = String(regions.length);
      this.names.replaceChildren(...regions.map((name) => new Option(name)));
    }
    const badge = simulated ? [element("span", "linked-badge", "Simulated")] : [];
    if (people) {
      const [before, own, after] = people;
      const name = element("span", "", own);
      this.persons.replaceChildren(go("◂", "The subject before", before), name, ...badge, go("▸", "The next subject", after));
    } else {
      this.persons.replaceChildren(...badge);
    }
  }

  /** Plotly's colours, as the page has them. */
  theme() {
    const colour = getComputedStyle(this.root).getPropertyValue("--st-text-color").trim() || "#31333f";
    const clear = "rgba(0, 0, 0, 0)";
    return { font: { color: colour, size: 11 }, paper_bgcolor: clear, plot_bgcolor: clear, hoverlabel: { font: { size: 12 } } };
  }

  /** The region that views light up: under the cursor, or else the last that was pinned. */
  get lit() {
    return this.hovered !== NONE ? this.hovered : this.pinned.at(-1) ?? NONE;
  }

  /**
   * @param {number} region counted from 0; -1 for none
   * @param {number} column the other region of a cell of a map
   * @param {Tile | null} tile where the cursor is
   */
  hover(region, column = NONE, tile = null) {
    if (region === this.hovered && column === this.column && tile === this.under) return;
    Object.assign(this, { hovered: region, column, under: tile });
    this.light();
  }

  /**
   * Pin a region, or let go of it.
   * @param {number} region
   * @param {boolean} beside keep those that are pinned already
   */
  pin(region, beside = false) {
    if (region < 0) return;
    const again = this.pinned.includes(region) && (beside || this.pinned.length === 1);
    const others = beside ? this.pinned.filter((one) => one !== region) : [];
    this.collect(again ? others : [...others, region]);
  }

  /** @param {number[]} regions to be pinned in place of the others */
  collect(regions) {
    this.pinned = [...new Set(regions)];
    this.light();
    this.tell({ pinned: this.pinned });
  }

  /** What is known here of a block of a tile's matrix; null where it has none. */
  blockOf(tile, rows, columns) {
    const maps = tile.places?.squares ?? [];
    if (!maps.length) return null;
    const [quantity] = (tile.sent.figure.layout.coloraxis?.colorbar.title.text || "value").split("<br>");
    const names = this.parts.get("cells")?.beside[tile.name]?.names ?? [];
    return { tile, ...makeBlock(maps, maps.length === names.length ? names : [], rows, columns, quantity) };
  }

  /**
   * Choose a block of a tile's matrix: its mean is said at once, and Python is asked how groups differ in it.
   * @param {number[]} rows  @param {number[]} columns
   */
  chooseBlock(tile, rows, columns) {
    this.block = this.blockOf(tile, rows, columns);
    this.light();
    this.tellSoon({ block: { rows, columns } });
  }

  /** Escape: let go of the block and of the rows of a network, or else of the pinned regions. */
  letGo() {
    const narrow = [...this.tiles.values()].filter((tile) => tile.rows);
    narrow.forEach((tile) => tile.showRows(""));
    if (this.block) {
      this.block = null;
      this.tell({ block: null });
    } else if (!narrow.length && this.pinned.length) {
      return this.collect([]);
    }
    this.light();
  }

  light() {
    if (!this.frame) return;
    const started = performance.now();
    for (const tile of this.tiles.values()) tile.light(this.lit, this.pinned, this.column);
    this.describe();
    const of = (this.frame.cells ? this.pinned.at(-1) : undefined) ?? (this.inRow ? NONE : this.lit);
    if (of !== NONE) this.steps.set("region", of);
    cancelAnimationFrame(this.next);
    this.next = requestAnimationFrame(() => this.takeSteps());
    this.litIn = performance.now() - started;
  }

  /** Say what is known of the region that is lit. */
  describe() {
    const facts = this.shownFacts();
    const region = this.lit;
    const cell = this.cellWords();
    const known = facts?.columns ?? [];
    const words = cell ?? (region === NONE
      ? this.frame.cells && this.block ? [] : [this.frame.hint] // what is said of a block in many maps is long
      : [this.frame.regions[region], ...known.map(({ name, values }) => `${name} ${values[region]}`.trim())]);
    this.line.replaceChildren(...words.map((text, i) => element(i ? "span" : "strong", "", text)));
    if (this.frame.why && region !== NONE && this.hovered === NONE) this.line.append(this.why(this.frame.regions[region]));
    this.verdict.textContent = this.block ? this.blockWords() : cell ? "" : facts?.verdict ?? "";
    this.verdict.title = this.verdict.textContent;
  }

  /** The way to what node entanglement sees in a region. @param {string} name */
  why(name) {
    const made = button("Why?", `Why ${name} ranks as it does, on the page ${this.frame.why}`, () => this.tell({ why: true }));
    made.classList.add("linked-word");
    return made;
  }

  /** The mean of the chosen block and, once Python has said it, how groups differ in it. */
  blockWords() {
    const { rows, columns, words } = this.block;
    const tested = this.parts.get("block");
    const same = tested && String(tested.rows) === String(rows) && String(tested.columns) === String(columns);
    return same ? `${words} ${tested.words}` : words;
  }

  /** Whether the region under the cursor is a cell in the row of the one that tiles show: that one is pinned, or theirs. */
  get inRow() {
    const follows = [...this.parts.values()].some(({ of, by }) => by === "region" && of === this.under?.name);
    return this.frame.cells && this.hovered !== NONE && this.column === NONE && (this.pinned.length > 0 || follows);
  }

  /** What the cell under the cursor is in every map, where Python sent what stands beside it. */
  cellWords() {
    const cells = this.parts.get("cells");
    const shown = this.pinned.at(-1) ?? this.steps.get("region") ?? 0;
    const [row, column] = this.inRow ? [shown, this.hovered] : [this.hovered, this.column];
    if (column === NONE || !cells) return null;
    const { regions } = this.frame;
    const of = (name) => wordsOf(this.tiles.get(name)?.places?.maps ?? [], cells.beside[name], row, column);
    return [`${regions[row]} → ${regions[column]}`, ...Object.keys(cells.beside).flatMap(of)];
  }

  shownFacts() {
    const facts = this.part("facts");
    if (!facts) return facts;
    const shown = { ...facts, columns: [...facts.columns] };
    for (const [path, value] of this.changesOf(facts)) {
      if (path[0] === "columns") shown.columns[path[1]] = value;
      else shown[path[0]] = value;
    }
    return shown;
  }

  /** What the chosen steps change in a part, as it was sent; steps of an earlier one do not count. */
  changesOf({ part, version }) {
    const own = [...this.parts.values()].filter((one) => one.of === part && one.version === version);
    return own.flatMap(({ by, steps }) => steps[this.steps.get(by)] ?? []);
  }

  /** Show the steps of what the page holds already. */
  async takeSteps() {
    const started = performance.now();
    for (const tile of this.tiles.values()) await tile.change();
    this.steppedIn = performance.now() - started;
  }

  /**
   * A control was moved: what the page holds answers at once, the rest is asked.
   * @param {string} name
   * @param {number} value
   * @param {boolean} live
   */
  choose(name, value, live) {
    this.untold.choices = { ...this.untold.choices, [name]: value };
    clearTimeout(this.resting);
    const control = this.frame.controls.find((one) => one.name === name);
    if (live) {
      this.steps.set(name, value);
      this.takeSteps().then(() => this.describe());
    } else if (control?.live) {
      this.tellSoon({});
    } else {
      this.root.classList.add("linked-busy");
      this.tell();
      this.asked = this.unheard.at(-1).at;
    }
  }

  /** What controls were moved to, of which the frame does not know yet. @returns {Object<string, number>} */
  unheardChoices() {
    return Object.assign({}, ...[...this.unheard, this.untold].map(({ choices }) => choices));
  }

  /**
   * Tell Python what was chosen since it was last told, and again all that no frame has answered yet: of what is told
   * twice while Python works, it hears the last alone.
   */
  tell(also = {}) {
    const said = { ...this.untold, ...also };
    this.untold = {};
    clearTimeout(this.resting);
    if (!Object.keys(said).length) return;
    this.unheard.push({ ...said, at: performance.timeOrigin + performance.now() });
    this.say("said", [...this.unheard]);
  }

  /** Tell Python of it once the hand rests. */
  tellSoon(also) {
    Object.assign(this.untold, also);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.tell(), REST);
  }

  key(event) {
    if (event.target.closest?.("input, select, textarea, [role=combobox]")) return;
    const here = this.root.contains(document.activeElement);
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      Object.assign(this, { hovered: NONE, column: NONE });
      this.letGo();
    } else if (move && here) {
      event.preventDefault();
      const n = this.frame.regions.length;
      this.hover((this.lit + move + n) % n);
    } else if (event.key === "Enter" && here && this.hovered !== NONE) {
      this.pin(this.hovered, event.shiftKey);
    }
  }
}

function inSpace({ latest }) {
  return Boolean(latest.figure?.layout.scene);
}

/** Let the browser paint what is drawn. */
function pause() {
  return new Promise((ready) => setTimeout(ready));
}

/** Wait until the browser has nothing else to do, but not for long. */
function idle() {
  return new Promise((ready) => (window.requestIdleCallback ?? setTimeout)(ready, { timeout: SOON }));
}
