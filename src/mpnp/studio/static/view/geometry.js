// Which node is meant: by a point, by a loop, by a direction. All in pixels, on projected places [N × 3].

// The node nearest to a point within reach; of those on top of each other the one in front. -1 if there is none.
export function nearest(seen, x, y, reach) {
  let [best, least] = [-1, Infinity];
  for (let i = 0, node = 0; i < seen.length; i += 3, node++) {
    const [dx, dy] = [seen[i] - x, seen[i + 1] - y];
    const away = dx * dx + dy * dy;
    if (away > reach * reach) continue;
    const cost = away - 0.5 * reach * reach * seen[i + 2];
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}

// Nodes inside a closed loop [[x, y], …].
export function inside(seen, loop) {
  if (loop.length < 3) return [];
  const [xs, ys] = [loop.map((p) => p[0]), loop.map((p) => p[1])];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const found = [];
  for (let i = 0, node = 0; i < seen.length; i += 3, node++) {
    const [x, y] = [seen[i], seen[i + 1]];
    if (x < left || x > right || y < top || y > bottom) continue;
    let odd = false;
    for (let a = 0, b = loop.length - 1; a < loop.length; b = a++) {
      if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) odd = !odd;
    }
    if (odd) found.push(node);
  }
  return found;
}

// The nearest node in a direction, within 60 degrees of it: how arrow keys walk.
export function towards(seen, from, [dx, dy]) {
  const [x, y] = [seen[3 * from], seen[3 * from + 1]];
  let [best, least] = [from, Infinity];
  for (let i = 0, node = 0; i < seen.length; i += 3, node++) {
    const [ax, ay] = [seen[i] - x, seen[i + 1] - y];
    const away = Math.hypot(ax, ay);
    const along = (ax * dx + ay * dy) / away;
    if (node === from || !(along > 0.5)) continue;
    const cost = away * (2 - along);
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}
