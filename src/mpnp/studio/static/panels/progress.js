// Whether to go on: what another label is worth, and how accurate the model is by its own labels.

import { $, h, percent, replace, svg } from "../dom.js";

export function progressPanel(store) {
  store.on("verdict state", draw);

  function draw() {
    if (!store.verdict || !store.state) return;
    const { stop, words, points, gain } = store.verdict;
    const last = points.at(-1);
    const given = store.state.labels.reduce((sum, label) => sum + (label >= 0), 0);
    replace(
      $("progress"),
      h("section", { class: `sign ${stop ? "stop" : "go"}` }, h("b", { "aria-hidden": "true" }, stop ? "■" : "▶"), h("p", {}, words)),
      h("dl", { class: "figures" },
        h("div", {}, h("dt", {}, "Labels"), h("dd", {}, given.toLocaleString("en"), h("small", {}, ` of ${store.nodes.toLocaleString("en")}`))),
        h("div", {}, h("dt", {}, "Another one settles"), h("dd", {}, gain < 10 ? gain.toFixed(1) : Math.round(gain).toLocaleString("en"), h("small", {}, " nodes"))),
        last && h("div", {}, h("dt", {}, "Accuracy"), h("dd", {}, percent(last.right), h("small", {}, ` ${percent(last.low)} to ${percent(last.high)}`)))),
      last && h("h3", {}, "Accuracy by number of labels"),
      last && chart(points),
      last && h("p", { class: "soft" }, "Each given label predicted from the others; the band holds the true value 95 % of the time. Labels that were asked for are harder than most, so it errs on the low side."),
    );
  }
}

function chart(points) {
  const [width, height, left, bottom] = [300, 150, 44, 22];
  const most = Math.max(...points.map((p) => p.labels), 10);
  const x = (labels) => left + ((width - left - 8) * labels) / most;
  const y = (share) => 8 + (height - bottom - 8) * (1 - share);
  const line = (values) => values.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
  const band = [...points.map((p) => [x(p.labels), y(p.high)]), ...points.toReversed().map((p) => [x(p.labels), y(p.low)])];
  const last = points.at(-1);
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `Accuracy ${percent(last.right)} with ${last.labels} labels` },
    ...[0, 0.5, 1].map((share) => svg("g", {}, svg("line", { x1: left, x2: width - 8, y1: y(share), y2: y(share), class: "grid" }), svg("text", { x: left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share)))),
    ...[0, Math.round(most / 2), most].map((labels) => svg("text", { x: x(labels), y: height - 6, "text-anchor": "middle" }, String(labels))),
    svg("polygon", { points: line(band), class: "band" }),
    svg("polyline", { points: line(points.map((p) => [x(p.labels), y(p.right)])), class: "line" }),
    svg("line", { x1: x(last.labels), x2: x(last.labels), y1: y(last.low), y2: y(last.high), class: "whisker" }),
    svg("circle", { cx: x(last.labels), cy: y(last.right), r: 3.5, class: "now" }),
  );
}
