/** A brain of nodes where there is no graphics card: plotly does much in it that the screen does not need. */

/** Lines and nodes are as fine as the display; plotly's own choice is four times as many points to be drawn. */
export const FINENESS = { plotGlPixelRatio: Math.max(1, window.devicePixelRatio) };

const TYPES = {
  f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, i1: Int8Array, i2: Int16Array, i4: Int32Array,
};
/** @type {WeakMap<any, any>} by what was sent, so that plotly knows what did not change */
const read = new WeakMap();

/** A trace whose numbers are read once, and not whenever it is drawn. */
export function traceOf(trace) {
  return Object.fromEntries(Object.entries(trace).map(([name, one]) => [name, one?.bdata ? numbersOf(one) : one]));
}

/** A painted cortex: each triangle has the value of its region. */
export function painted({ regional, ...trace }) {
  const values = numbersOf(regional);
  const about = traceOf(trace);
  return { ...about, intensity: Float32Array.from(about.customdata, (region) => values[region]) };
}

/** @param {{dtype: string, bdata: string}} sent */
function numbersOf(sent) {
  if (!read.has(sent)) read.set(sent, numbers(sent));
  return read.get(sent);
}

function numbers({ dtype, bdata }) {
  const letters = atob(bdata);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return new TYPES[dtype](bytes.buffer);
}

/**
 * Let plotly neither make the cortex anew with every change of a node, nor draw all a second time to know what is
 * under the pointer, which the screen finds by itself.
 * @param {any} plot an element in which plotly has drawn a brain of nodes
 */
export function lighten(plot) {
  const { glplot, traces } = plot._fullLayout.scene._scene;
  for (const trace of Object.values(traces)) if (trace.data.type === "mesh3d" && !Object.hasOwn(trace, "update")) keep(trace);
  if (!glplot.objects.some(({ pickSlots }) => pickSlots)) return;
  for (const one of glplot.objects) one.pickSlots = 0;
  const none = {}; // what takes part in picking is found anew whenever something comes or goes
  glplot.add(none);
  glplot.remove(none);
}

/** Let a mesh be made again only of other numbers, or at another scale. */
function keep(trace) {
  let made = String(trace.scene.dataScale);
  trace.update = function update(data) {
    const scale = String(this.scene.dataScale);
    if (data.x !== this.data.x || scale !== made) Object.getPrototypeOf(this).update.call(this, data);
    made = scale;
    this.data = data;
  };
}
