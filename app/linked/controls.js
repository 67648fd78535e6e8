/** The controls above the tiles, made of what Python says of each option. */
import { element } from "./elements.js";

/**
 * @typedef {{name: string, title: string, help: string, choices: string[], value: number, live: boolean,
 *   kind: "list" | "slider" | "segments"}} Control what can be chosen; values are told by their place among all
 */

/**
 * Make the controls, or show their values where they are there already.
 * @param {HTMLElement} bar
 * @param {Control[]} controls
 * @param {Object<string, number>} moved values that were chosen since
 * @param {(name: string, value: number, live: boolean) => void} onChoice
 */
export function makeControls(bar, controls, moved, onChoice) {
  const made = JSON.stringify(controls.map(({ value, ...about }) => about));
  if (bar.dataset.made !== made) {
    bar.dataset.made = made;
    bar.replaceChildren(...controls.map((control) => MAKERS[control.kind](control, onChoice)));
  }
  controls.forEach(({ name, value: sent, kind }, i) => {
    const value = moved[name] ?? sent;
    if (kind === "segments") {
      bar.children[i].querySelectorAll("input")[value].checked = true;
      return;
    }
    const input = bar.children[i].querySelector("input, select");
    if (document.activeElement === input && input.type === "range") return; // it is being moved
    input.value = String(value);
    input.dispatchEvent(new Event("shown"));
  });
}

const MAKERS = { list, slider, segments };

/** @param {Control} control  @param {HTMLElement} input */
function labelled({ title, help }, input) {
  const label = element("label", "linked-control");
  label.title = help;
  label.append(element("span", "", title), input);
  return label;
}

/** @param {Control} control */
function slider(control, onChoice) {
  const { name, choices, live } = control;
  const input = element("input");
  Object.assign(input, { type: "range", min: "0", max: String(choices.length - 1), step: "1" });
  const label = labelled(control, input);
  const said = label.appendChild(element("output"));
  const show = () => {
    said.textContent = choices[Number(input.value)] ?? "";
    input.setAttribute("aria-valuetext", said.textContent);
  };
  input.addEventListener("shown", show);
  input.addEventListener("input", () => {
    show();
    if (live) onChoice(name, Number(input.value), true);
  });
  input.addEventListener("change", () => onChoice(name, Number(input.value), false));
  return label;
}

/** A few choices side by side. @param {Control} control */
function segments({ name, title, help, choices }, onChoice) {
  const group = element("div", "linked-segments");
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", title);
  group.title = help;
  choices.forEach((text, place) => {
    const input = element("input");
    Object.assign(input, { type: "radio", name: `linked-${name}`, value: String(place) });
    input.addEventListener("change", () => onChoice(name, place, false));
    const label = element("label");
    label.append(input, element("span", "", text));
    group.append(label);
  });
  return group;
}

/** @param {Control} control */
function list(control, onChoice) {
  return labelled(control, chooser(control, (value) => onChoice(control.name, value, false)));
}

/**
 * A list to choose from.
 * @param {{choices: string[], value: number}} about
 * @param {(value: number) => void} onChoice
 */
export function chooser({ choices, value }, onChoice) {
  const input = element("select");
  input.append(...choices.map((text, place) => new Option(text, String(place))));
  input.value = String(value);
  input.addEventListener("change", () => onChoice(Number(input.value)));
  return input;
}
