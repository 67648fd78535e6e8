/** One cell of all maps: what its value is in each, and what Python sent beside it. */

/**
 * @typedef {{what: string, names: string[], per: number, signed: boolean, values: {bdata: string}[]}} Beside numbers of every cell of
 *   some maps, row after row; the least number there is stands for one that is not known
 */

const UNKNOWN = -(2 ** 15);
/** @type {WeakMap<object, Int16Array>} */
const read = new WeakMap();

/** @param {{bdata: string}} sent */
function numbers(sent) {
  if (!read.has(sent)) {
    const bytes = Uint8Array.from(atob(sent.bdata), (letter) => letter.charCodeAt(0));
    read.set(sent, new Int16Array(bytes.buffer));
  }
  return read.get(sent);
}

/**
 * What one cell says in the maps of a tile; nothing while another figure is there.
 * @param {{trace: any, at: Map<number, number>}[]} maps
 * @param {Beside} beside of the same maps
 * @param {number} row  @param {number} column regions
 */
export function wordsOf(maps, { what, names, per, signed, values }, row, column) {
  if (maps.length !== names.length) return [];
  return maps.map(({ trace, at }, i) => {
    const value = trace.z[at.get(row)][at.get(column)];
    const other = numbers(values[i])[row * at.size + column];
    const said = other === UNKNOWN ? "not tested" : `${what} ${beside(other / per, what)}`;
    return `${names[i]} ${written(value, signed)} (${said})`;
  });
}

function written(value, signed) {
  return `${value < 0 ? "−" : signed ? "+" : ""}${Math.abs(value).toFixed(2)}`;
}

function beside(value, what) {
  if (what === "FC") return written(value, false);
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}
