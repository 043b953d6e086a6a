// What colours show, and the legend that says how to read them.

import { $, count, h, percent, replace } from "../dom.js";
import { LAYERS, mostEpistemic, movement, ramp } from "../layers.js";

export function layerBar(store) {
  const buttons = Object.entries(LAYERS).map(([name, layer]) =>
    h("button", { role: "radio", "data-layer": name, title: layer.says, onclick: () => store.set("layer", name) }, layer.title));
  replace($("layers"), ...buttons);
  store.on("layer belief verdict", draw);
  document.addEventListener("theme", draw);
  draw();

  function draw() {
    for (const button of buttons) button.setAttribute("aria-checked", String(button.dataset.layer === store.layer));
    const layer = LAYERS[store.layer];
    const theme = document.documentElement.dataset.theme;
    const bar = layer.ends && h(
      "div",
      { class: "ramp" },
      h("span", {}, layer.ends[0]),
      h("i", { style: { background: `linear-gradient(90deg, ${ramp(store.layer, theme).join(", ")})` } }),
      h("span", {}, layer.ends[1]),
    );
    replace($("legend"), h("p", {}, more() ?? layer.says), bar);
  }

  // What a layer can say only once there are figures.
  function more() {
    if (store.layer === "sets" && store.verdict) {
      const { threshold, coverage } = store.verdict;
      return threshold > 0
        ? `Sets that hold the true class ${percent(coverage)} of the time. Colour: one class is left. Grey: several.`
        : `Sets that hold the true class ${percent(coverage)} of the time need ${Math.ceil(coverage / (1 - coverage) - 1e-9)} labels or more.`;
    }
    if (store.layer === "changed" && store.belief) {
      store.belief.movement ??= movement(store.belief, store.before);
      return `The last change turned the belief about ${count(store.belief.movement.turned, "node")}. Strong: it moved much.`;
    }
    if (store.layer === "epistemic" && store.belief) {
      const most = mostEpistemic(store.belief);
      return most ? `Doubt that labels would lift: at most ${percent(most)} of what there can be` : "Nowhere is there doubt that labels would lift.";
    }
    return null;
  }
}
