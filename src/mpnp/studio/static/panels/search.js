// Find a node by name: those that begin so first, then those that hold it.

import { $, h, replace } from "../dom.js";

const MOST = 8;

export function searchBox(store, acts) {
  const [input, list] = [$("search"), $("found")];
  let found = [];
  let at = 0;

  function look() {
    const text = input.value.trim().toLowerCase();
    const [first, then] = [[], []];
    if (text && store.scene) {
      for (let node = 0; node < store.nodes && first.length < MOST; node++) {
        const where = store.scene.names[node].toLowerCase().indexOf(text);
        if (where === 0) first.push(node);
        else if (where > 0 && then.length < MOST) then.push(node);
      }
    }
    found = [...first, ...then].slice(0, MOST);
    at = 0;
    draw();
  }

  function draw() {
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
    replace(list, ...found.map((node, i) =>
      h("li", { role: "option", id: `found-${i}`, "aria-selected": String(i === at), onpointerdown: () => go(i) }, store.scene.names[node])),
      !found.length && h("li", { class: "soft" }, "No node is called so"));
    input.setAttribute("aria-activedescendant", found.length ? `found-${at}` : "");
  }

  function go(i) {
    if (found[i] === undefined) return;
    acts.show(found[i], { fly: true });
    close();
    $("view").focus();
  }

  function close() {
    input.value = "";
    list.hidden = true;
  }

  input.addEventListener("input", look);
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && found.length) {
      at = (at + by + found.length) % found.length;
      draw();
      event.preventDefault();
    } else if (event.key === "Enter") go(at);
    else if (event.key === "Escape") {
      close();
      $("view").focus();
    }
  });
}
