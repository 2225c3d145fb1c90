// Elements. Every text becomes a text node, so no text of a memory is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "ink") element.style.setProperty("--ink", value);
    else if (name === "span") [element.style.left, element.style.width] = value.map((share) => `${share}%`);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...present(children));
  return element;
}

// A condition in a list of children leaves its element out.
const present = (children) => children.flat().filter((child) => child != null && child !== false);

/** Replace all children of an element. */
export const put = (element, ...children) => element.replaceChildren(...present(children));

export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
export const button = (text, onclick, attributes = {}) =>
  h("button", { type: "button", class: "act", onclick, ...attributes }, text);
export const hint = (...children) => h("p", { class: "hint" }, ...children);
export const note = (...children) => h("p", { class: "note", dir: "auto" }, ...children);
export const quote = (text, attributes = {}) => h("p", { class: "content", dir: "auto", ...attributes }, text);

let numbers = 0;

/** Return a field with its label. */
export function labelled(text, field) {
  field.id = field.id || `field${(numbers += 1)}`;
  return [h("label", { for: field.id }, text), field];
}

const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export const when = (time) => h("time", { datetime: time }, shown.format(new Date(time)));
const dayShown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
export const day = (time) => h("time", { datetime: time }, dayShown.format(new Date(time)));
export const number = (value) => value.toFixed(3).replace("-", "\u2212");
export const said = (memory) => memory.content || memory.title || memory.id;
export const address = (view, rest) => (rest ? `#${view}/${encodeURIComponent(rest)}` : `#${view}`);
export const beginning = (text, most = 90) => (text.length > most ? `${text.slice(0, most).trimEnd()} …` : text);

/** Tell the reader what happened, in words that a screen reader speaks. */
export function tell(text, ...more) {
  put(document.getElementById("status"), text, more);
}
