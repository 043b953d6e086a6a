// Given labels that the model disagrees with, most doubtful first.

import { $, h, percent, replace } from "../dom.js";

export function suspectsPanel(store, acts) {
  store.on("verdict state", draw);

  function draw() {
    if (!store.verdict || !store.state) return;
    const found = store.verdict.suspects.filter(({ node }) => store.state.labels[node] >= 0);
    $("suspect-count").textContent = found.length ? String(found.length) : "";
    replace(
      $("suspects"),
      h("p", { class: "soft" }, "Each label is hidden in turn and predicted from the others. Where the model believes in another class, look twice: one of you is wrong."),
      found.length
        ? h("ol", { class: "suspects" }, ...found.map(suspect))
        : h("p", { class: "empty" }, "No label looks wrong."),
    );
  }

  function suspect({ node, given, instead, probability }) {
    const label = store.state.labels[node];
    const tone = (c) => ({ style: { "--class": store.classes[c]?.colour ?? "#888888" } });
    return h("li", {},
      h("button", { class: "who", onclick: () => acts.show(node, { fly: true, quiet: true }) }, store.scene.names[node]),
      h("p", {}, h("span", { class: "chip", ...tone(label) }, h("i", { class: "dot" }), store.className(label), h("small", {}, `you, ${percent(given)}`)), " or ", h("span", { class: "chip", ...tone(instead) }, h("i", { class: "dot" }), store.className(instead), h("small", {}, percent(probability)))),
      h("div", { class: "row" }, h("button", { onclick: () => acts.paint([node], instead) }, `Make it '${store.className(instead)}'`), h("button", { onclick: () => acts.paint([node], -1) }, "Erase")));
  }
}
