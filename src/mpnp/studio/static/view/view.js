// The picture of the graph: renderer, camera and gestures put together.

import { colours, rgb } from "../layers.js";
import { Camera } from "./camera.js";
import { inside, nearest, towards } from "./geometry.js";
import { listen } from "./gestures.js";
import { MARK, Renderer } from "./renderer.js";

const MOST_EDGES = 120_000; // drawn unless asked for
const [SLOW, FAST, REST] = [34, 18, 160]; // milliseconds between frames; from the last move to rest
const [GROWN, AWAY] = [1.8, 0.3]; // how much larger or smaller, and how far in heights, a kept picture may be moved

export class View {
  // `acts.tap(node)`, `acts.lasso(nodes)`, `acts.hover(node, x, y)`.
  constructor(canvas, outline, store, acts) {
    Object.assign(this, { canvas, outline, store, acts, waiting: false, seenVersion: -1, drawnAt: 0, moving: false, spared: 0 });
    this.theme = "light";
    this.edges = true;
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.gestures();
    store.on("scene", () => this.load());
    store.on("state belief verdict layer", () => this.recolour());
    store.on("state selected node asked interview verdict", () => this.remark());
    store.on("node", () => this.refocus());
  }

  load() {
    const { scene } = this.store;
    this.renderer ??= new Renderer(this.canvas);
    this.renderer.load(scene);
    this.camera = new Camera(scene.places.shape[1] === 3, reach(scene.places, 0), reach(scene.places, 1));
    this.seen = new Float32Array(3 * this.store.nodes);
    this.edges = scene.shape !== "board" && scene.edges.length / 2 <= MOST_EDGES;
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    [this.canvas.width, this.canvas.height] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
    this.camera?.resize(width, height);
    this.renew();
  }

  // At most one drawing per frame, however much has changed.
  invalidate() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((time) => {
      this.waiting = false;
      this.adapt(time - this.drawnAt);
      this.drawnAt = time;
      if (!this.drawAgain()) this.draw();
    });
  }

  // What is shown has changed, not only from where: the picture that was kept is of no use any more.
  renew() {
    this.kept = null;
    this.invalidate();
  }

  // While the picture moves, a machine that cannot keep up moves what it has drawn last, as maps do. That is right for flat
  // graphs alone; of a solid one it leaves out the edges, then some of the nodes. At rest all is drawn.
  adapt(gap) {
    const inMotion = this.moving && this.movedBefore; // the first frame after a rest says nothing
    this.movedBefore = this.moving;
    if (!inMotion) return;
    if (gap > SLOW) this.spared = Math.min(this.spared + 1, 4);
    else if (gap < FAST && this.camera.solid) this.spared = Math.max(this.spared - 1, 0);
  }

  // The picture drawn last, moved, if that will do; whether it did.
  drawAgain() {
    if (!this.moving || !this.kept) return false;
    const { matrix, grown, away } = this.camera.since(this.kept);
    if (grown > GROWN || grown < 1 / GROWN || away > AWAY * this.camera.height) return false;
    this.renderer.again(matrix, this.tones().ground);
    this.counted();
    return true;
  }

  tones() {
    const style = getComputedStyle(document.documentElement);
    const tone = (name) => rgb(style.getPropertyValue(name).trim()).map((value) => value / 255);
    return { ground: tone("--ground"), line: tone("--edge"), ink: tone("--ink"), asks: tone("--ask"), doubts: tone("--doubt") };
  }

  counted() {
    this.canvas.dataset.drawn = String(1 + Number(this.canvas.dataset.drawn ?? 0));
  }

  draw() {
    if (!this.camera || !this.canvas.width) return;
    const theme = this.tones();
    const spared = this.moving && this.camera.solid ? this.spared : 0;
    const [edges, every] = [this.edges && !spared, 2 ** Math.max(spared - 1, 0)];
    this.renderer.draw(this.camera, { theme, size: this.size, edges, every, ratio: this.ratio, still: !this.moving });
    this.kept = this.moving && this.spared && !this.camera.solid ? this.camera.spot : null;
    if (this.kept) this.renderer.keep();
    this.counted();
  }

  // Pixels across a node.
  get size() {
    const { camera, store } = this;
    if (store.scene.shape === "board") return (2 * camera.scale) / Math.max(Math.round(Math.sqrt(store.nodes)) - 1, 1);
    const room = Math.sqrt((camera.width * camera.height) / Math.max(store.nodes, 1));
    return Math.max(3, Math.min(20, 0.36 * room)) * Math.min(Math.pow(camera.zoom, 0.55), 6);
  }

  recolour() {
    if (!this.camera) return;
    this.renderer.colours = colours(this.store, this.theme);
    this.renew();
  }

  remark() {
    if (!this.camera) return;
    const { store } = this;
    const marks = new Uint8Array(store.nodes);
    store.state?.labels.forEach((label, i) => {
      if (label >= 0) marks[i] = MARK.given;
    });
    for (const node of store.selected) marks[node] |= MARK.selected;
    if (store.node !== null) marks[store.node] |= MARK.selected;
    for (const one of store.verdict?.suspects ?? []) marks[one.node] |= MARK.suspect;
    if (store.asked && store.interview) marks[store.asked.node] |= MARK.asked;
    this.renderer.marks = marks;
    this.renew();
  }

  refocus() {
    const { node } = this.store;
    this.renderer.focus = node === null ? [] : Array.from(this.store.neighbours(node)).flatMap((other) => [node, other]);
    this.renew();
  }

  // Pixels of all nodes, [N × 3].
  projected() {
    if (this.seenVersion !== this.camera.version) {
      const { places } = this.store.scene;
      this.camera.project(places, places.shape[1], this.seen);
      this.seenVersion = this.camera.version;
    }
    return this.seen;
  }

  at(node) {
    const seen = this.projected();
    return [seen[3 * node], seen[3 * node + 1]];
  }

  step(from, direction) {
    return towards(this.projected(), from, direction);
  }

  middle() {
    return nearest(this.projected(), this.camera.width / 2, this.camera.height / 2, 1e5);
  }

  // Bring a node into the middle, near enough to see it, over a quarter of a second.
  fly(node) {
    const { camera } = this;
    const begin = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const goal = Math.max(camera.zoom, Math.min(6, Math.sqrt(this.store.nodes / 150)));
    const from = camera.zoom;
    const [fromX, fromY] = this.at(node);
    const step = (time) => {
      if (this.flight !== step) return;
      const share = still ? 1 : Math.min(1, Math.max(0, (time - begin) / 260));
      const ease = 1 - (1 - share) ** 3;
      camera.zoomAt((from * (goal / from) ** ease) / camera.zoom, camera.width / 2, camera.height / 2);
      const [x, y] = this.at(node);
      const [wantX, wantY] = [fromX + ease * (camera.width / 2 - fromX), fromY + ease * (camera.height / 2 - fromY)];
      camera.pan(wantX - x, wantY - y);
      this.invalidate();
      if (share < 1) requestAnimationFrame(step);
    };
    this.flight = step;
    requestAnimationFrame(step);
  }

  move(change) {
    this.flight = null;
    change(this.camera);
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.settle(), REST);
    this.invalidate();
  }

  // At rest, unless a frame that was asked for is still waiting for a slow machine.
  settle() {
    if (this.waiting) {
      this.rest = setTimeout(() => this.settle(), REST);
      return;
    }
    this.moving = false;
    this.invalidate();
  }

  gestures() {
    const { canvas, acts, store } = this;
    listen(canvas, {
      mode: (event) => {
        if (event.altKey || (store.tool === "lasso" && event.button === 0)) return "loop";
        const other = event.shiftKey || event.button > 0;
        return this.camera?.solid !== other ? "turn" : "pan";
      },
      solid: () => this.camera.solid,
      pan: (dx, dy) => this.move((camera) => camera.pan(dx, dy)),
      rotate: (dx, dy) => this.move((camera) => camera.rotate(dx, dy)),
      zoom: (factor, x, y) => this.move((camera) => camera.zoomAt(factor, x, y)),
      tap: (x, y, reach) => acts.tap(this.pick(x, y, reach)),
      hover: (x, y) => acts.hover(x < 0 || !this.camera ? -1 : this.pick(x, y, 10), x, y),
      loop: (points) => this.outline.setAttribute("points", points.map((p) => p.join(",")).join(" ")),
      loopEnd: (points) => acts.lasso(inside(this.projected(), points)),
    });
  }

  pick(x, y, reach) {
    return nearest(this.projected(), x, y, Math.max(reach, this.size / 2 + 3));
  }
}

// How far places go from the middle along an axis.
function reach(places, axis) {
  let most = 0.1;
  for (let at = axis; at < places.length; at += places.shape[1]) most = Math.max(most, Math.abs(places[at]));
  return most;
}
