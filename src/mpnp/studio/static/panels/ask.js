// The next node to label, its reason in words, and the queue behind it.

import { $, h, percent, replace } from "../dom.js";

export function askPanel(store, acts) {
  store.on("questions asked state scene interview", draw);

  function draw() {
    if (!store.scene || !store.state) return;
    const queue = store.questions?.queue ?? [];
    const { asked } = store;
    const rest = queue.filter(({ node }) => node !== asked?.node && store.state.labels[node] < 0).slice(0, 9);
    const name = (node) => store.scene.names[node];
    replace(
      $("ask"),
      asked
        ? h(
            "section",
            { class: "question" },
            h("p", { class: "over" }, "Label this next"),
            h("button", { class: "asked", title: "Go there (N)", onclick: () => acts.goToAsked() }, name(asked.node), h("kbd", {}, "N")),
            h("p", { class: "why" }, asked.why),
            h("div", { class: "answers" }, ...store.classes.map((one, label) =>
              h("button", { style: { "--class": one.colour }, onclick: () => acts.answer(label) }, h("i", { class: "dot" }), h("span", {}, one.name), label < 10 && h("kbd", {}, (label + 1) % 10)))),
            h(
              "div",
              { class: "row" },
              h("button", { onclick: () => acts.skip() }, "Skip ", h("kbd", {}, "S")),
              h("button", { class: "strong", "aria-pressed": String(store.interview), onclick: () => acts.interview() }, store.interview ? "End interview " : "Interview me ", h("kbd", {}, "I")),
            ),
            asked.truth >= 0 && h("details", { class: "truth" }, h("summary", {}, "What is the answer?"), h("p", {}, `This is an example: it is '${store.className(asked.truth)}'.`)),
          )
        : h("p", { class: "empty" }, store.questions && !queue.length ? "Nothing is left to ask." : "Thinking …"),
      rest.length > 0 && h("h2", {}, "Then"),
      rest.length > 0 && h("ol", { class: "queue", start: 2 }, ...rest.map((one) =>
        h("li", {}, h("button", { title: one.why, onclick: () => acts.show(one.node, { fly: true }) }, h("span", {}, name(one.node)), h("small", {}, guess(one.node)))))),
      strategy(),
    );
  }

  // The likeliest class of a node, or nothing.
  function guess(node) {
    const shares = store.shares(node);
    const best = shares.indexOf(Math.max(...shares));
    return best < 0 ? "" : `${store.className(best)} ${percent(shares[best])}`;
  }

  function strategy() {
    const { strategies } = store.scene;
    const select = h("select", { id: "strategy", onchange: () => acts.strategy(select.value) },
      ...Object.keys(strategies).map((one) => h("option", { value: one, selected: one === store.state.strategy }, one)));
    return h("div", { class: "strategy" }, h("label", { for: "strategy" }, "How it chooses"), select, h("p", { class: "soft" }, `by ${strategies[store.state.strategy]}`));
  }
}
