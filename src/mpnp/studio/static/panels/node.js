// One node: what is believed of it and why, what it is like, and who is next to it.

import { $, h, percent, replace } from "../dom.js";
import { possible } from "../layers.js";

const SOURCES = {
  neighbours: "Its neighbours",
  features: "Nodes with features like its own",
  structure: "Nodes placed like it in the graph",
  surroundings: "Its wider surroundings",
};

export function nodePanel(store, acts) {
  store.on("node card belief state verdict", draw);

  function draw() {
    if (!store.scene || !store.state) return;
    const { node } = store;
    if (node === null) {
      replace($("node"), h("p", { class: "empty" }, "Choose a node: click it, walk with the arrow keys, or search."));
      return;
    }
    const label = store.state.labels[node];
    const card = store.card?.node === node ? store.card : null;
    replace(
      $("node"),
      h("section", {}, h("p", { class: "over" }, "Node"), h("h2", { class: "node-name" }, store.scene.names[node]),
        h("p", {}, label >= 0 ? chip(label, "given by you") : h("span", { class: "soft" }, "No label given")),
        card?.truth >= 0 && h("details", { class: "truth" }, h("summary", {}, "What is the answer?"), h("p", {}, `This is an example: it is '${store.className(card.truth)}'.`))),
      beliefs(node),
      card && evidence(card),
      card && around(card),
      card && features(card),
    );
  }

  function chip(label, words) {
    return h("span", { class: "chip", style: { "--class": store.classes[label]?.colour ?? "#888888" } }, h("i", { class: "dot" }), h("b", {}, store.className(label)), words && h("small", {}, words));
  }

  function beliefs(node) {
    const shares = store.shares(node);
    const order = shares.map((_, c) => c).sort((a, b) => shares[b] - shares[a]).slice(0, 8);
    const threshold = store.verdict?.threshold ?? 0;
    const left = possible(shares, threshold);
    return h("section", {}, h("h3", {}, "Belief"),
      ...order.map((c) => h("div", { class: "bar", style: { "--class": store.classes[c]?.colour ?? "#888888" } },
        h("span", {}, store.className(c)), h("meter", { min: 0, max: 1, value: shares[c], "aria-label": `${store.className(c)} ${percent(shares[c])}` }), h("i", { class: "fill", style: { "--share": shares[c] } }), h("output", {}, percent(shares[c])))),
      threshold > 0 && h("p", { class: "soft" }, left.length ? `With ${percent(store.verdict.coverage)} coverage: ${left.map((c) => store.className(c)).join(", ")}` : "No class is likely enough."));
  }

  function evidence({ evidence: found, nearest }) {
    const rows = Object.entries(found).map(([source, shares]) => {
      const silent = !shares.some((share) => share > 0);
      return h("div", { class: "evidence" }, h("span", {}, SOURCES[source] ?? source),
        silent ? h("small", { class: "soft" }, "say nothing yet")
          : h("div", { class: "stack", role: "img", "aria-label": shares.map((share, c) => `${store.className(c)} ${percent(share)}`).join(", ") },
            ...shares.map((share, c) => h("i", { title: `${store.className(c)} ${percent(share)}`, style: { "flex-grow": share, "--class": store.classes[c]?.colour ?? "#888888" } }))));
    });
    const near = nearest.map(([other, steps]) => h("li", {}, h("button", { onclick: () => acts.show(other, { fly: true }) }, chip(store.state.labels[other]), h("small", {}, `${store.scene.names[other]}, ${steps === 1 ? "1 step" : `${steps} steps`}`))));
    return h("section", {}, h("h3", {}, "Where it comes from"), ...rows, near.length > 0 && h("p", { class: "soft" }, "Nearest labels"), near.length > 0 && h("ul", { class: "near" }, ...near));
  }

  function around({ neighbours }) {
    const shown = neighbours.slice(0, 24);
    return h("section", {}, h("h3", {}, `Neighbours (${neighbours.length === 100 ? "100 and more" : neighbours.length})`),
      h("div", { class: "neighbours" }, ...shown.map((other) => h("button", { style: { "--class": store.classes[likely(other)]?.colour ?? "#888888" }, onclick: () => acts.show(other, { fly: true }) }, h("i", { class: "dot" }), store.scene.names[other])), neighbours.length > shown.length && h("small", { class: "soft" }, `and ${neighbours.length - shown.length} more`)));
  }

  function likely(node) {
    const given = store.state.labels[node];
    const shares = store.shares(node);
    return given >= 0 ? given : shares.indexOf(Math.max(...shares));
  }

  function features({ features: found }) {
    return h("details", {}, h("summary", {}, `Features (${found.length})`), h("table", {}, h("tbody", {}, ...found.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, Number(value.toPrecision(5)).toLocaleString("en")))))));
  }
}
