// The picture as a file: PNG as it is on the screen, SVG with every node and edge as a shape of its own.

import { $, say, svg } from "./dom.js";
import { colours, rgb } from "./layers.js";
import { faintness } from "./view/renderer.js";

const MOST_SHAPES = 200_000;

export function pictures(store, view, room) {
  $("export-png").addEventListener("click", () => {
    view.draw(); // what WebGL has drawn is kept until the end of this task only
    view.canvas.toBlob((blob) => download(blob, `${room}.png`));
  });
  $("export-svg").addEventListener("click", () => {
    if (store.nodes + store.scene.edges.length / 2 > MOST_SHAPES) say("The graph has too many shapes for SVG; take a PNG.", { shown: true });
    else download(new Blob([new XMLSerializer().serializeToString(drawing(store, view))], { type: "image/svg+xml" }), `${room}.svg`);
  });
}

// As the page shows it: what is far is paler and smaller, given nodes are larger and ringed, and many edges are faint.
export function drawing(store, view) {
  const { width, height } = view.camera;
  const seen = view.projected();
  const bytes = colours(store, view.theme);
  const style = getComputedStyle(document.documentElement);
  const tone = (name) => style.getPropertyValue(name).trim();
  const { edges, names, shape } = store.scene;
  const [board, ground] = [shape === "board", rgb(tone("--ground"))];
  const lines = [];
  for (let e = 0; view.edges && e < edges.length; e += 2) {
    const [a, b] = [3 * edges[e], 3 * edges[e + 1]];
    lines.push(svg("path", { d: `M${seen[a].toFixed(1)} ${seen[a + 1].toFixed(1)}L${seen[b].toFixed(1)} ${seen[b + 1].toFixed(1)}` }));
  }
  const order = [...names.keys()].sort((a, b) => seen[3 * a + 2] - seen[3 * b + 2]);
  const nodes = order.map((i) => {
    const given = store.state.labels[i] >= 0;
    const far = view.camera.solid ? 0.5 - 0.5 * seen[3 * i + 2] : 0;
    const fill = `rgb(${ground.map((value, k) => Math.round(bytes[4 * i + k] + 0.55 * far * (value - bytes[4 * i + k])))})`;
    const half = (view.size / 2) * (board && !given ? 0.92 : 1 - 0.3 * far); // fields of a board are parted by a line
    const whole = given && !board ? Math.max(1.45 * half, 5) : half;
    const width = given ? Math.min(2, 0.3 * whole) : 0;
    const [x, y, r] = [seen[3 * i], seen[3 * i + 1], whole - width / 2];
    const ring = given ? { stroke: tone("--ink"), "stroke-width": width.toFixed(1) } : {};
    const node = board
      ? svg("rect", { x: (x - r).toFixed(1), y: (y - r).toFixed(1), width: (2 * r).toFixed(1), height: (2 * r).toFixed(1), fill, ...ring })
      : svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1), fill, ...ring });
    node.append(svg("title", {}, names[i]));
    return node;
  });
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height },
    svg("rect", { width: "100%", height: "100%", fill: tone("--ground") }),
    svg("g", { stroke: tone("--edge"), "stroke-opacity": faintness(edges.length, view.camera.zoom).toFixed(3) }, ...lines),
    ...nodes,
  );
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
