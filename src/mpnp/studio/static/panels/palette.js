// Classes and tools on the left: what is painted with, and how.

import { $, h, replace, say } from "../dom.js";

export function palettePanel(store, acts) {
  let editing = null; // the class whose name is being typed; classes.length for a new one

  for (const button of document.querySelectorAll("#tools [data-tool]")) {
    button.addEventListener("click", () => store.set("tool", button.dataset.tool));
  }
  $("erase").addEventListener("click", () => acts.choose(-1));
  $("add-class").addEventListener("click", () => edit(store.classes.length));
  store.on("tool brush state", draw);

  function edit(label) {
    editing = label;
    draw();
    const input = $("classes").querySelector("input.name");
    input?.focus();
    input?.select();
  }

  function draw() {
    for (const button of document.querySelectorAll("#tools [data-tool]")) {
      button.setAttribute("aria-checked", String(button.dataset.tool === store.tool));
    }
    $("view").dataset.tool = store.tool;
    $("erase").setAttribute("aria-pressed", String(store.brush < 0 && store.tool !== "look"));
    if (!store.state) return;
    const counts = new Array(store.classes.length).fill(0);
    for (const label of store.state.labels) if (label >= 0) counts[label]++;
    const typed = $("classes").querySelector("input.name")?.value; // another tab's change must not take what is typed
    const rows = store.classes.map((one, label) => row(one, label, counts[label], typed));
    if (editing === store.classes.length) rows.push(h("li", {}, nameInput("", editing, typed)));
    const focused = editing !== null && document.activeElement?.matches("input.name");
    replace($("classes"), ...rows);
    if (focused) $("classes").querySelector("input.name")?.focus();
  }

  function row(one, label, count, typed) {
    const key = label < 10 ? String((label + 1) % 10) : "";
    const swatch = h("input", {
      type: "color",
      value: one.colour.toLowerCase(),
      "aria-label": `Colour of ${one.name}`,
      title: "Another colour",
      onchange: (event) => acts.changeClass(label, { colour: event.target.value }),
    });
    if (editing === label) return h("li", {}, swatch, nameInput(one.name, label, typed));
    return h(
      "li",
      { style: { "--class": one.colour } },
      swatch,
      h(
        "button",
        { class: "pick", role: "radio", "aria-checked": String(store.brush === label && store.tool !== "look"), onclick: () => acts.choose(label), ondblclick: () => edit(label) },
        h("span", { class: "name" }, one.name),
        h("small", {}, count ? count.toLocaleString("en") : ""),
        key && h("kbd", {}, key),
      ),
      h("button", { class: "edit icon", title: "Rename (R)", "aria-label": `Rename ${one.name}`, onclick: () => edit(label) }, "✎"),
    );
  }

  function nameInput(name, label, typed) {
    let over = false;
    const finish = (keep) => {
      if (over) return;
      over = true;
      const given = input.value.trim();
      editing = null;
      if (keep && given && given !== name) {
        if (label === store.classes.length) acts.addClass(given);
        else acts.changeClass(label, { name: given });
      } else if (keep && !given) say("A class needs a name.");
      draw();
      $("view").focus();
    };
    const input = h("input", {
      class: "name",
      maxlength: 80,
      "aria-label": "Name of the class",
      placeholder: "name of the class",
      onblur: () => input.isConnected && finish(true),
      onkeydown: (event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") finish(false);
      },
    });
    input.value = typed ?? name;
    return input;
  }
}
