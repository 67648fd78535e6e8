/** A block of a matrix: some of its rows and columns, chosen with the pointer or with keys, and what is said of it. */
import { chooser } from "./controls.js";

const STILL = 4; // px that a hand may move while it clicks
const STRONGEST = 30; // connections of a block that the brain draws
const WIDTHS = [0.8, 3.5]; // px, of the weakest of these and of the strongest

/**
 * @typedef {{rows: number[], columns: number[], words: string,
 *   pairs: [number, number, number][]}} Block regions, counted from 0; connections as two regions and a width
 */

/**
 * The mean of a block in every map of a tile, and its strongest connections in the first.
 * @param {any[]} maps of a tile's places
 * @param {string[]} titles of several maps; by default what stands above each
 * @param {number[]} rows
 * @param {number[]} columns
 * @param {string} quantity
 * @returns {Block}
 */
export function makeBlock(maps, titles, rows, columns, quantity) {
  const [map] = maps;
  const cells = maps.map((one) => cellsOf(one, rows, columns));
  const size = `${rows.length} × ${columns.length}`;
  const names = [nameOf(map, rows), nameOf(map, columns)];
  const which = names.every(Boolean) ? `${names.join(" × ")} (${size})` : size;
  const each = maps.map(({ trace }, i) => `${titles[i] ?? trace.meta.title} ${written(meanOf(cells[i]), 2)}`);
  const means = maps.length > 1 ? `mean ${quantity}: ${each.join(", ")}` : `mean ${quantity} = ${written(meanOf(cells[0]))}`;
  const said = cells[0].length ? means : "no pair of regions with data";
  return { rows, columns, words: `Block ${which}: ${said}.`, pairs: strongest(cells[0]) };
}

/** The cells of a block, regions with themselves and gaps left out. @returns {[number, number, number][]} */
function cellsOf(map, rows, columns) {
  const values = map.trace.customdata ?? map.trace.z;
  return rows.flatMap((row) => columns
    .filter((column) => column !== row)
    .map((column) => /** @type {[number, number, number]} */ ([row, column, Number(values[map.at.get(row)][map.at.get(column)])]))
    .filter(([, , value]) => Number.isFinite(value)));
}

function meanOf(cells) {
  return cells.reduce((sum, [, , value]) => sum + value, 0) / cells.length;
}

function written(value, digits = 3) {
  return value.toPrecision(digits).replace("-", "−");
}

/** @param {[number, number, number][]} cells */
function strongest(cells) {
  const strength = ([, , value]) => Math.abs(value);
  const once = new Map();
  for (const cell of cells) {
    const pair = cell[0] < cell[1] ? `${cell[0]} ${cell[1]}` : `${cell[1]} ${cell[0]}`;
    if (strength(cell) > 0 && !(strength(once.get(pair) ?? [0, 0, 0]) >= strength(cell))) once.set(pair, cell);
  }
  const found = [...once.values()].sort((a, b) => strength(b) - strength(a)).slice(0, STRONGEST);
  const top = found.length ? strength(found[0]) : 1;
  return found.map((cell) => [cell[0], cell[1], WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * (strength(cell) / top) ** 2]);
}

/** The network that rows or columns are; empty where they are not one whole network. */
function nameOf(map, regions) {
  const places = regions.map((region) => map.at.get(region));
  const whole = ([, start, end]) => end - start === places.length && places.every((place) => place >= start && place < end);
  return map.blocks.find(whole)?.[0] ?? "";
}

/** Two corners of a map, each a row and a column, as the regions of the rows and of the columns between them. */
function between(map, [row, column], [otherRow, otherColumn]) {
  const span = (a, b) => map.ids.slice(Math.min(a, b), Math.max(a, b) + 1);
  return { rows: span(row, otherRow), columns: span(column, otherColumn) };
}

/**
 * Let a block be chosen in a tile: by dragging a rectangle, or with shift and the arrow keys.
 * @param {import("./tile.js").Tile} tile
 */
export function chooseBlocks(tile) {
  const { plot, screen } = tile;
  const at = ({ clientX, clientY }) => {
    const { left, top } = plot.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  let from = null; // the corner where the pointer went down
  plot.addEventListener("pointerdown", (event) => {
    const [first, ...others] = tile.places?.squares ?? [];
    if (!first || event.button || event.shiftKey) return;
    const map = others.find((one) => tile.places.cellAt(one, ...at(event))) ?? first;
    const corner = tile.places.cellAt(map, ...at(event));
    from = corner && { corner, map, x: event.clientX, y: event.clientY };
    const named = corner ? null : tile.places.blockNamedAt(map, ...at(event));
    if (named) tile.showRows(tile.rows === named[0] ? "" : named[0]);
  }, true);
  const corners = (event) => {
    const moved = from && Math.hypot(event.clientX - from.x, event.clientY - from.y) >= STILL;
    return moved ? between(from.map, from.corner, tile.places.cellAt(from.map, ...at(event), true)) : null;
  };
  const { signal } = screen.ended;
  window.addEventListener("pointermove", (event) => {
    const block = corners(event);
    if (block) tile.showBlock(block);
  }, { signal });
  window.addEventListener("pointerup", (event) => {
    const block = corners(event);
    from = null;
    if (block) screen.chooseBlock(tile, block.rows, block.columns);
  }, { signal, capture: true });
  let last = null; // the corner that keys move, and the one that stays
  plot.addEventListener("keydown", (event) => {
    const [map] = tile.places?.squares ?? [];
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    if (!map || !step || !event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const start = map.at.get(screen.lit) ?? 0;
    if (!screen.block || !last) last = { stays: [start, start], moves: [start, start] };
    last.moves = last.moves.map((place, i) => Math.min(Math.max(place + step[i], 0), map.ids.length - 1));
    const { rows, columns } = between(map, last.stays, last.moves);
    screen.chooseBlock(tile, rows, columns);
  });
}

/** A list of the networks of matrices, of which the rows of one alone can be shown; nothing for other figures. */
export function rowsChooser(tile, figure) {
  const blocks = squaresOf(figure?.data ?? [])[0]?.meta.blocks ?? [];
  if (blocks.length < 2) return [];
  const names = blocks.map(([name]) => name);
  const about = { choices: ["All rows", ...names], value: names.indexOf(tile.rows) + 1 };
  const list = chooser(about, (place) => tile.showRows(place ? names[place - 1] : ""));
  list.setAttribute("aria-label", "Rows shown");
  return [list];
}

/** The layout of matrices that show the rows of one network; what is dragged on a matrix is a block. */
export function onlyRows(layout, data, name) {
  const maps = squaresOf(data);
  if (!maps.length) return layout;
  const [, start, end] = maps[0].meta.blocks.find(([one]) => one === name) ?? [];
  if (end === undefined) return { ...layout, dragmode: false };
  const narrow = maps.map(({ yaxis }) => {
    const along = `yaxis${yaxis.slice(1)}`;
    const { scaleanchor, scaleratio, autorange, ...rows } = layout[along];
    return [along, { ...rows, range: [end - 0.5, start - 0.5] }];
  });
  return { ...layout, dragmode: false, ...Object.fromEntries(narrow) };
}

/** The traces of matrices whose blocks are known. */
function squaresOf(data) {
  return data.filter(({ type, meta }) => type === "heatmap" && meta?.blocks);
}
