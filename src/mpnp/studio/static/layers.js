// What the colour of a node says: one function per layer, from the store to red, green, blue for every node.

export const LAYERS = {
  label: { title: "Label", says: "Colour: the likeliest class. Pale: unsure. Ringed: given by you. Red halo: a label to look at twice." },
  confidence: { title: "Confidence", says: "Probability of the likeliest class", ends: ["guess", "sure"] },
  total: { title: "Doubt", says: "Total uncertainty", ends: ["none", "all classes alike"] },
  aleatoric: { title: "in the data", says: "Doubt that more labels would not lift", ends: ["none", "all classes alike"] },
  epistemic: { title: "in the model", says: "Doubt that labels would lift", ends: ["none", "most"] },
  sets: { title: "Sets", says: "Colour: one class is left. Grey: several are possible." },
  changed: { title: "Changed", says: "What the last change did: strong where the belief moved." },
};

// Lightness changes one way along each ramp, so that they read in grey and to colour-blind eyes.
const RAMPS = {
  light: { doubt: ["#e3e6ea", "#f0b45c", "#b4431f", "#5c1a0e"], sure: ["#e6e9ec", "#7fb8d8", "#1a6aa0", "#0a2f52"] },
  dark: { doubt: ["#343d49", "#8a5a2b", "#e0963a", "#fff0c0"], sure: ["#343d49", "#2f6f99", "#6fbbe3", "#e6f6ff"] },
};
const NEUTRAL = { light: [203, 208, 214], dark: [84, 94, 107] };

export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
export const ramp = (layer, theme) => RAMPS[theme][layer === "confidence" ? "sure" : "doubt"];

function table(stops) {
  const colours = stops.map(rgb);
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (colours.length - 1);
    const low = Math.min(Math.floor(at), colours.length - 2);
    return colours[low].map((value, k) => value + (at - low) * (colours[low + 1][k] - value));
  });
}

// Per node: the likeliest class, its probability, the entropy of all, in nats.
export function summary(belief) {
  if (belief.summary) return belief.summary;
  const [nodes, classes] = belief.probabilities.shape;
  const label = new Int16Array(nodes);
  const top = new Float32Array(nodes);
  const total = new Float32Array(nodes);
  for (let i = 0, at = 0; i < nodes; i++) {
    let best = 0;
    let sum = 0;
    for (let c = 0; c < classes; c++, at++) {
      const p = belief.probabilities[at] / 65535;
      if (p > top[i]) [top[i], best] = [p, c];
      if (p > 0) sum -= p * Math.log(p);
    }
    label[i] = best;
    total[i] = sum;
  }
  belief.summary = { label, top, total };
  return belief.summary;
}

// Where the last change moved the belief, [0, 1] per node, and how many labels it turned.
export function movement(belief, before) {
  const [nodes, classes] = belief.probabilities.shape;
  const moved = new Float32Array(nodes);
  let turned = 0;
  if (!before || before.probabilities.shape[0] !== nodes) return { moved, turned };
  const [, old] = before.probabilities.shape;
  const [now, then] = [summary(belief).label, summary(before).label];
  for (let i = 0; i < nodes; i++) {
    let sum = 0;
    for (let c = 0; c < Math.max(classes, old); c++) {
      const p = c < classes ? belief.probabilities[i * classes + c] : 0;
      const q = c < old ? before.probabilities[i * old + c] : 0;
      sum += Math.abs(p - q);
    }
    moved[i] = sum / 2 / 65535;
    turned += now[i] !== then[i];
  }
  return { moved, turned };
}

// The most doubt in the model at any node, as a share of all there can be: it is a small part of the total, so that its colours
// go up to there. Below half a percent it is rounding.
export function mostEpistemic(belief) {
  if (belief.mostEpistemic !== undefined) return belief.mostEpistemic;
  const { total } = summary(belief);
  let most = 0;
  for (let i = 0; i < total.length; i++) most = Math.max(most, total[i] - belief.aleatoric[i]);
  const share = most / Math.log(Math.max(belief.probabilities.shape[1], 2));
  belief.mostEpistemic = share < 0.005 ? 0 : share;
  return belief.mostEpistemic;
}

// Which classes are possible at a node: those of at least the threshold.
export function possible(shares, threshold) {
  return shares.flatMap((p, c) => (p >= threshold ? [c] : []));
}

// Colours of all nodes as bytes, four per node.
export function colours(store, theme) {
  const nodes = store.nodes;
  const out = new Uint8Array(4 * nodes).fill(255);
  const neutral = NEUTRAL[theme];
  const palette = store.classes.map((one) => rgb(one.colour));
  const { belief, layer } = store;
  const labels = store.state?.labels;
  const put = (i, from, to, share) => {
    for (let k = 0; k < 3; k++) out[4 * i + k] = from[k] + share * (to[k] - from[k]);
  };
  if (!belief) {
    for (let i = 0; i < nodes; i++) put(i, neutral, palette[labels?.[i]] ?? neutral, 1);
    return out;
  }
  const classes = belief.probabilities.shape[1];
  const { label, top, total } = summary(belief);
  const most = Math.log(Math.max(classes, 2));
  const strength = (i) => Math.max(0, (top[i] - 1 / classes) / (1 - 1 / classes));
  const colour = (c) => palette[c] ?? neutral;

  if (layer === "label") {
    for (let i = 0; i < nodes; i++) {
      if (labels[i] >= 0) put(i, neutral, colour(labels[i]), 1);
      else put(i, neutral, colour(label[i]), strength(i) > 0.001 ? 0.22 + 0.7 * strength(i) : 0);
    }
  } else if (layer === "sets") {
    const threshold = store.verdict?.threshold ?? 0;
    for (let i = 0; i < nodes; i++) {
      let size = 0;
      for (let c = 0; c < classes; c++) size += belief.probabilities[i * classes + c] / 65535 >= threshold;
      put(i, neutral, colour(label[i]), size <= 1 ? 1 : 0.35 / (size - 1) - 0.35 / (classes - 1 || 1));
    }
  } else if (layer === "changed") {
    belief.movement ??= movement(belief, store.before);
    const { moved } = belief.movement;
    for (let i = 0; i < nodes; i++) put(i, neutral, colour(label[i]), moved[i] > 0.01 ? 0.3 + 0.7 * moved[i] : 0);
  } else {
    const steps = table(ramp(layer, theme));
    const highest = (mostEpistemic(belief) || 1) * most;
    const value = {
      confidence: (i) => strength(i),
      total: (i) => total[i] / most,
      aleatoric: (i) => belief.aleatoric[i] / most,
      epistemic: (i) => (total[i] - belief.aleatoric[i]) / highest,
    }[layer];
    for (let i = 0; i < nodes; i++) put(i, steps[Math.round(255 * Math.min(1, Math.max(0, value(i))))], neutral, 0);
  }
  return out;
}
