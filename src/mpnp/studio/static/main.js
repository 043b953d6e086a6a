// The studio's page: what the server tells goes into the store, what the person does goes up the wire.

import { $, closing, count, say } from "./dom.js";
import { keyboard } from "./keys.js";
import { movement, summary } from "./layers.js";
import { askPanel } from "./panels/ask.js";
import { layerBar } from "./panels/layerbar.js";
import { nodePanel } from "./panels/node.js";
import { palettePanel } from "./panels/palette.js";
import { progressPanel } from "./panels/progress.js";
import { searchBox } from "./panels/search.js";
import { suspectsPanel } from "./panels/suspects.js";
import { tabs } from "./panels/tabs.js";
import { pictures } from "./picture.js";
import { Store } from "./store.js";
import { themes } from "./theme.js";
import { View } from "./view/view.js";
import { Wire } from "./wire.js";

const PATIENCE = 2000; // milliseconds to wait for a fresh question
const room = decodeURIComponent(location.pathname.split("/").pop());
const store = new Store();
const skipped = new Set();
let waiting;
let wanted = 0; // questions about older labels than these are not taken up

// What a person can do; keys, buttons and pointers all end here.
const acts = {
  paint(nodes, label = store.brush) {
    if (!nodes.length) return;
    if (nodes.some((node) => store.state.labels[node] !== label)) acts.letGo(1);
    if (!wire.send("paint", { nodes, label })) say("Not connected; nothing was painted.", { shown: true });
    else if (nodes.length > 1) say(`${count(nodes.length, "node")} ${label < 0 ? "erased" : `painted '${store.className(label)}'`}.`, { shown: true });
  },
  choose(label) {
    if (label >= store.classes.length) return;
    if (store.interview && label >= 0) {
      acts.answer(label);
      return;
    }
    store.set("brush", label);
    if (store.tool === "look") store.set("tool", "paint");
    say(label < 0 ? "Eraser" : `Class ${store.className(label)}`);
  },
  answer(label) {
    if (store.asked) acts.paint([store.asked.node], label);
  },
  skip() {
    if (!store.asked) return;
    wire.send("skip", { node: store.asked.node });
    skipped.add(store.asked.node);
    acts.letGo();
  },
  // The question on the page stays what it is until the person does something: an answer is never given to another node.
  // Then the server's next one is shown, or, should it take long, the next of the old queue.
  letGo(changes = 0) {
    wanted = store.state.revision + changes;
    store.set("asked", null);
    clearTimeout(waiting);
    waiting = setTimeout(takeQuestion, PATIENCE);
  },
  goToAsked() {
    if (store.interview) $("panel").scrollTop = 0; // the question before its answers
    if (store.asked) acts.show(store.asked.node, { fly: true, quiet: store.interview });
  },
  interview(on = !store.interview) {
    store.set("interview", on);
    document.body.classList.toggle("interviewing", on);
    if (on) {
      acts.tab("ask");
      acts.goToAsked();
      const byHand = matchMedia("(pointer: coarse)").matches;
      say(byHand ? "The studio asks, you tap the class." : "The studio asks, you press number keys. S skips, Escape ends.", { shown: true });
    }
  },
  strategy(name) {
    store.set("questions", null); // those of the old one are not wanted any more
    acts.letGo();
    wire.send("strategy", { name });
  },
  show(node, { fly = false, quiet = false } = {}) {
    store.set("node", node);
    if (node === null) return;
    if (fly) view.fly(node);
    wire.send("inspect", { node });
    if (!quiet) acts.tab("node");
    const label = store.state.labels[node];
    say(`${store.scene.names[node]}, ${label < 0 ? "no label" : store.className(label)}`);
  },
  grow() {
    const from = store.selected.size ? [...store.selected] : store.node === null ? [] : [store.node];
    store.set("selected", new Set([...from, ...from.flatMap((node) => Array.from(store.neighbours(node)))]));
    say(`${count(store.selected.size, "node")} selected`, { shown: true });
  },
  paintSelected() {
    acts.paint(store.selected.size ? [...store.selected] : store.node === null ? [] : [store.node]);
    store.set("selected", new Set());
  },
  addClass: (name) => wire.send("add", { name }),
  changeClass: (label, change) => wire.send("change", { label, ...change }),
  undo() {
    acts.letGo(1);
    wire.send("undo");
  },
  redo() {
    acts.letGo(1);
    wire.send("redo");
  },
};

function takeQuestion() {
  if (store.asked) return;
  const open = store.questions?.queue.find(({ node }) => store.state.labels[node] < 0 && !skipped.has(node));
  if (!open) return;
  store.set("asked", open);
  if (store.interview) acts.goToAsked();
}

const view = new View($("view"), $("outline"), store, {
  tap(node) {
    if (node < 0) {
      store.set("selected", new Set());
      acts.show(null);
    } else if (store.tool === "look") acts.show(node);
    else {
      acts.paint([node]); // first: what is painted waits for nothing
      acts.show(node, { quiet: true });
    }
  },
  lasso: (nodes) => acts.paint(nodes),
  hover(node, x, y) {
    const tip = $("tip");
    tip.hidden = node < 0;
    view.canvas.classList.toggle("on-node", node >= 0);
    if (node < 0) return;
    tip.textContent = store.scene.names[node];
    tip.style.transform = `translate(${Math.round(x + 14)}px, ${Math.round(y + 14)}px)`;
  },
});

const wire = new Wire(
  room,
  (message) => {
    const { kind } = message;
    if (kind === "notice") say(message.text, { shown: true });
    else if (kind === "belief") heard(message);
    else store.set(kind, message);
  },
  (status) => {
    $("lost").hidden = status === "open";
  },
);

// A new belief: what it was before stays, to be compared with.
function heard(belief) {
  const fresh = store.belief && belief.revision !== store.belief.revision;
  if (fresh) {
    store.before = store.belief;
    delete store.before.movement;
  }
  store.set("belief", belief);
  if (fresh) {
    belief.movement = movement(belief, store.before);
    const { turned } = belief.movement;
    say(turned ? `The belief about ${count(turned, "node")} turned.` : "No belief turned.");
  }
  if (store.node !== null) wire.send("inspect", { node: store.node });
}

store.on("scene", () => {
  const { title, names, edges, model, file } = store.scene;
  document.title = `${title} · mpnp studio`;
  $("title").textContent = title;
  $("title").title = `${names.length.toLocaleString("en")} nodes, ${(edges.length / 2).toLocaleString("en")} edges, model ${model}`;
  $("kept").textContent = `kept in ${file}`;
});
store.on("state", () => {
  $("undo").disabled = !store.state.undo;
  $("redo").disabled = !store.state.redo;
  if (store.brush >= store.classes.length) store.set("brush", 0);
});
store.on("questions", () => {
  if (!store.questions || store.questions.revision < wanted) return;
  const again = store.questions.queue.find(({ node }) => node === store.asked?.node);
  if (again) store.set("asked", again); // the same question, for reasons of now
  takeQuestion();
});
store.on("state", () => {
  if (store.asked && store.state.labels[store.asked.node] >= 0) acts.letGo(); // another tab has answered
});
$("undo").onclick = acts.undo;
$("redo").onclick = acts.redo;
$("zoom-in").onclick = () => view.move((camera) => camera.zoomAt(1.4, camera.width / 2, camera.height / 2));
$("zoom-out").onclick = () => view.move((camera) => camera.zoomAt(1 / 1.4, camera.width / 2, camera.height / 2));
$("fit").onclick = () => view.move((camera) => camera.reset());
for (const [id, what] of [["labels", "labels.csv"], ["predictions", "predictions.csv"], ["script", "reproduce.py"]]) {
  $(`export-${id}`).href = `/export/${encodeURIComponent(room)}/${what}`;
}

closing($("export"));

acts.tab = tabs();
themes(view);
palettePanel(store, acts);
layerBar(store);
askPanel(store, acts);
nodePanel(store, acts);
suspectsPanel(store, acts);
progressPanel(store);
searchBox(store, acts);
pictures(store, view, room);
keyboard(store, view, acts);

// For the curious, and for tests: the same objects as the page's own.
globalThis.studio = { store, view, acts, summary };
