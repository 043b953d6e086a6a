// The tabs on the right; returns a function that opens one by name.

import { $ } from "../dom.js";

export function tabs() {
  const all = [...document.querySelectorAll("#tabs [role=tab]")];
  const open = (name, focus = false) => {
    for (const tab of all) {
      const on = tab.getAttribute("aria-controls") === name;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      $(tab.getAttribute("aria-controls")).hidden = !on;
      if (on && focus) tab.focus();
    }
  };
  all.forEach((tab, i) => {
    tab.addEventListener("click", () => open(tab.getAttribute("aria-controls")));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) open(all[(i + by + all.length) % all.length].getAttribute("aria-controls"), true);
    });
  });
  open("ask");
  return open;
}
