/**
 * The linked screen: tiles that show figures of the library and know which regions their marks stand for, so that a
 * region under the cursor lights up in all of them. Python sends figures, and hears only what was chosen.
 *
 * Streamlit mounts this module once for the screen itself and once for every part of its contents: a part that did not
 * change is not sent again. Parts may come before the screen and in any order.
 */
import { Screen } from "./screen.js";

/** @type {Map<string, {screen: Screen | null, parts: Map<string, any>}>} by the name of a screen */
const known = new Map();

/** @param {string} name */
function entry(name) {
  if (!known.has(name)) known.set(name, { screen: null, parts: new Map() });
  return known.get(name);
}

/**
 * Called by Streamlit for every mounted part, whenever its contents changed.
 * @param {{data: any, parentElement: HTMLElement, setStateValue: (name: string, value: any) => void}} component
 */
export default function mount({ data, parentElement, setStateValue }) {
  const here = entry(data.screen);
  if (data.part) {
    here.parts.set(data.part, data);
    here.screen?.receive(data);
    return;
  }
  const root = parentElement.querySelector(".linked");
  if (!here.screen || here.screen.root !== root) {
    here.screen?.close();
    here.screen = new Screen(root);
    for (const part of here.parts.values()) here.screen.receive(part);
  }
  here.screen.say = setStateValue;
  here.screen.receive(data);
  return () => {
    if (root.isConnected) return; // Streamlit also cleans up before it calls again
    here.screen?.close();
    known.delete(data.screen);
  };
}
