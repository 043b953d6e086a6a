// Every key, in one table that is also the help.

import { $, h, replace } from "./dom.js";
import { LAYERS } from "./layers.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function keyboard(store, view, acts) {
  const zoom = (factor) => view.move((camera) => camera.zoomAt(factor, camera.width / 2, camera.height / 2));
  const layer = (by) => {
    const names = Object.keys(LAYERS);
    store.set("layer", names[(names.indexOf(store.layer) + by + names.length) % names.length]);
  };
  const tool = (name) => () => store.set("tool", name);

  // [keys, what they do, in words]
  const table = [
    ["Labelling", [
      [["1", "2", "…", "0"], null, "choose a class; in an interview: answer"],
      [["Enter", " "], () => acts.paintSelected(), "paint the node, or all that are selected"],
      [["e"], () => acts.choose(-1), "erase"],
      [["g"], () => acts.grow(), "select the neighbours, too"],
      [["c"], () => $("add-class").click(), "new class"],
      [["r"], () => document.querySelector("#classes [aria-checked=true] ~ .edit")?.click(), "rename the class"],
      [["Ctrl+z"], () => acts.undo(), "undo"],
      [["Ctrl+Shift+z", "Ctrl+y"], () => acts.redo(), "do again"],
    ]],
    ["Guidance", [
      [["n"], () => acts.goToAsked(), "go to the node that is asked for"],
      [["s"], () => acts.skip(), "ask for another"],
      [["i"], () => acts.interview(), "interview: it asks, you press numbers"],
      [["u"], () => acts.tab("suspects"), "suspects"],
      [["o"], () => acts.tab("progress"), "progress"],
      [[",", "."], (key) => layer(key === "." ? 1 : -1), "another layer of colours"],
    ]],
    ["Looking", [
      [["v"], tool("look"), "look"],
      [["p"], tool("paint"), "paint"],
      [["l"], tool("lasso"), "lasso"],
      [["← ↑ → ↓"], null, "walk to the next node; with Shift: move the picture"],
      [["[", "]"], (key) => view.move((camera) => camera.rotate(key === "]" ? 0.15 : -0.15, 0)), "turn"],
      [["+", "="], () => zoom(1.25), "nearer"],
      [["-"], () => zoom(0.8), "further"],
      [["f"], () => view.move((camera) => camera.reset()), "show all"],
      [["x"], () => { view.edges = !view.edges; view.renew(); }, "edges on or off"],
      [["/"], () => $("search").focus(), "find a node by name"],
      [["d"], () => $("theme").click(), "dark or light"],
      [["Escape"], () => escape(), "let go"],
      [["?"], () => help(table), "this list"],
    ]],
  ];
  const actions = new Map(table.flatMap(([, rows]) => rows.flatMap(([keys, act]) => (act ? keys.map((key) => [key, act]) : []))));

  function escape() {
    if (store.interview) acts.interview(false);
    else if (store.selected.size) store.set("selected", new Set());
    else acts.show(null);
    $("view").focus();
  }

  function walk(event) {
    const [dx, dy] = ARROWS[event.key];
    if (event.shiftKey) view.move((camera) => camera.pan(-60 * dx, -60 * dy));
    else {
      const node = store.node === null ? view.middle() : view.step(store.node, [dx, dy]);
      if (node >= 0) acts.show(node, { quiet: true, fly: outside(node) });
    }
  }

  function outside(node) {
    const [x, y] = view.at(node);
    return x < 30 || y < 30 || x > view.camera.width - 30 || y > view.camera.height - 30;
  }

  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (document.querySelector("dialog[open]") || target.matches("input, select, textarea")) return;
    const onButton = target.matches("button, a, summary, [role=tab]");
    if (onButton && ["Enter", " "].includes(event.key)) return;
    if (!store.state) return;
    const command = event.ctrlKey || event.metaKey;
    if (ARROWS[event.key] && !command && !event.altKey && !target.matches("[role=tab], [role=radio]")) walk(event);
    else if (/^[0-9]$/.test(event.key) && !command && !event.altKey) acts.choose((Number(event.key) + 9) % 10);
    else {
      const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const act = actions.get(`${command ? "Ctrl+" : ""}${command && event.shiftKey ? "Shift+" : ""}${letter}`);
      if (!act || event.altKey) return;
      act(letter);
    }
    event.preventDefault();
  });
  $("keys").addEventListener("click", () => help(table));
}

const SHOWN = { " ": "Space", "Ctrl+z": "Ctrl Z", "Ctrl+Shift+z": "Ctrl ⇧ Z", "Ctrl+y": "Ctrl Y", Escape: "Esc" };

function help(table) {
  const dialog = $("help");
  const sections = table.map(([title, rows]) =>
    h("section", {}, h("h3", {}, title), h("dl", {}, ...rows.flatMap(([keys, , words]) => [
      h("dt", {}, ...keys.map((key) => h("kbd", {}, SHOWN[key] ?? (key.length === 1 ? key.toUpperCase() : key)))),
      h("dd", {}, words),
    ]))));
  replace(
    dialog,
    h("h2", {}, "Keys"),
    h("div", { class: "columns" }, ...sections),
    h("p", { class: "soft" }, "Drag moves a flat graph and turns a solid one; with Shift or the right button it is the other way round. Alt and drag draws a lasso whatever the tool. Two fingers move, zoom and turn."),
    h("button", { onclick: () => dialog.close(), autofocus: true }, "Close"),
  );
  dialog.showModal();
}
