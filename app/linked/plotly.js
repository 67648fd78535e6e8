/** The plotly.js that comes with the installed plotly package, loaded once. */
let loading = null;

/** @returns {Promise<any>} */
export function plotly() {
  loading ??= new Promise((ready, failed) => {
    if (window.Plotly) return ready(window.Plotly);
    const script = document.createElement("script");
    script.src = new URL("plotly.min.js", import.meta.url).href;
    script.onload = () => ready(window.Plotly);
    script.onerror = () => failed(new Error("plotly.js could not be loaded"));
    document.head.append(script);
  });
  return loading;
}
