// Small helpers for building the page. Text is always set as text: nothing here can make HTML out of a name.

export const $ = (id) => document.getElementById(id);

// h("button", { class: "x", onclick: f, "aria-label": "…" }, "text", child): an element with its attributes and children.
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, item] of Object.entries(value)) element.style.setProperty(key, item);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
}

// Said to screen readers, and shown for a moment.
let fading;
export function say(text, { shown = false } = {}) {
  $("said").textContent = text;
  if (!shown) return;
  const toast = $("toast");
  toast.textContent = text;
  toast.classList.add("shown");
  clearTimeout(fading);
  fading = setTimeout(() => toast.classList.remove("shown"), 5000);
}

// A menu is closed by choosing from it, by a click elsewhere and by Escape.
export function closing(menu) {
  const close = () => { menu.open = false; };
  menu.addEventListener("click", (event) => event.target.closest("a, button") && close());
  document.addEventListener("pointerdown", (event) => menu.contains(event.target) || close());
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    menu.querySelector("summary").focus();
    event.stopPropagation();
  });
}

export const percent = (share) => `${Math.round(100 * share)} %`;
export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
