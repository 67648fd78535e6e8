/** Elements of the page; texts are set as text, never as markup. */

/**
 * @param {string} tag
 * @param {string} [name] its class
 * @param {string} [text]
 */
export function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * A button that shows a sign and says what it does.
 * @param {string} sign
 * @param {string} label
 * @param {() => void} onClick
 */
export function button(sign, label, onClick) {
  const made = element("button", "linked-button", sign);
  made.type = "button";
  made.title = label;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", onClick);
  return made;
}
