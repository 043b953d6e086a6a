// What the page knows, and who wants to hear of it. The server's messages are kept as they came.

export class Store extends EventTarget {
  scene = null; // the graph
  state = null; // labels and classes
  belief = null; // probabilities, of a revision
  before = null; // the belief before the last one
  questions = null;
  verdict = null;
  card = null;
  asked = null; // the question that is put, one of the queue

  tool = "look"; // look, paint or lasso
  brush = 0; // a class, or -1 to erase
  layer = "label";
  selected = new Set();
  node = null; // the one that is shown
  interview = false;

  set(part, value) {
    this[part] = value;
    this.dispatchEvent(new Event(part));
  }

  on(parts, listener) {
    for (const part of parts.split(" ")) this.addEventListener(part, listener);
  }

  get classes() {
    return this.state?.classes ?? [];
  }

  get nodes() {
    return this.scene?.names.length ?? 0;
  }

  className(label) {
    return this.classes[label]?.name ?? "";
  }

  // The probability of each class at a node, empty before there is a belief.
  shares(node) {
    if (!this.belief) return [];
    const [, classes] = this.belief.probabilities.shape;
    return Array.from(this.belief.probabilities.subarray(node * classes, (node + 1) * classes), (p) => p / 65535);
  }

  // Nodes next to a node, by the edges that are drawn.
  neighbours(node) {
    this.adjacency ??= adjacencyOf(this.scene);
    const { first, other } = this.adjacency;
    return other.subarray(first[node], first[node + 1]);
  }
}

function adjacencyOf({ edges, degree }) {
  const first = new Uint32Array(degree.length + 1);
  for (let i = 0; i < degree.length; i++) first[i + 1] = first[i] + degree[i];
  const next = first.slice(0, -1);
  const other = new Uint32Array(edges.length);
  for (let e = 0; e < edges.length; e += 2) {
    other[next[edges[e]]++] = edges[e + 1];
    other[next[edges[e + 1]]++] = edges[e];
  }
  return { first, other };
}
