// Where we look from. Places are turned, scaled and moved to pixels; nothing is perspective, so that sizes can be compared.

const COVERED = 54; // pixels at the top and at the bottom on which layers, legend and buttons lie

export class Camera {
  // `solid`: whether places have a depth; `wide`, `high`: how far they reach from the middle.
  constructor(solid, wide = 1, high = 1) {
    Object.assign(this, { solid, wide, high });
    this.width = this.height = 1;
    this.reset();
  }

  reset() {
    this.zoom = 1; // 1 shows all
    this.x = this.y = 0; // pixels by which the middle is moved
    this.turn = this.solid ? 0.6 : 0;
    this.tilt = this.solid ? 0.35 : 0;
    this.version = (this.version ?? 0) + 1;
  }

  resize(width, height) {
    [this.width, this.height] = [width, height];
    this.version++;
  }

  // Pixels per unit.
  get scale() {
    const high = Math.max(this.height - 2 * COVERED, 0.5 * this.height);
    if (this.solid) return this.zoom * 0.46 * Math.min(0.94 * this.width, high);
    return this.zoom * Math.min((0.45 * this.width) / this.wide, (0.46 * high) / this.high);
  }

  // Rows of the rotation: right, up, towards us. A flat graph turns in its plane, a solid one about its axis, then tilts.
  rotation() {
    const [c, s] = [Math.cos(this.turn), Math.sin(this.turn)];
    if (!this.solid) return [c, -s, 0, s, c, 0, 0, 0, 1];
    const [d, t] = [Math.cos(this.tilt), Math.sin(this.tilt)];
    return [c, 0, s, s * t, d, -c * t, -s * d, t, c * d];
  }

  // Pixels from the top left corner, and depth in [-1, 1], 1 being nearest, of every place: [N × 3].
  project(places, dimensions, out) {
    const r = this.rotation();
    const [scale, midX, midY] = [this.scale, this.width / 2 + this.x, this.height / 2 + this.y];
    for (let i = 0, at = 0; at < places.length; i += 3, at += dimensions) {
      const [x, y, z] = [places[at], places[at + 1], dimensions > 2 ? places[at + 2] : 0];
      out[i] = midX + scale * (r[0] * x + r[1] * y + r[2] * z);
      out[i + 1] = midY - scale * (r[3] * x + r[4] * y + r[5] * z);
      out[i + 2] = (r[6] * x + r[7] * y + r[8] * z) / 1.75;
    }
    return out;
  }

  // The same for the graphics card: a matrix in columns.
  matrix() {
    const r = this.rotation();
    const [sx, sy] = [(2 * this.scale) / this.width, (2 * this.scale) / this.height];
    const depth = -1 / 1.75;
    return new Float32Array([
      sx * r[0], sy * r[3], depth * r[6], 0,
      sx * r[1], sy * r[4], depth * r[7], 0,
      sx * r[2], sy * r[5], depth * r[8], 0,
      (2 * this.x) / this.width, (-2 * this.y) / this.height, 0, 1,
    ]);
  }

  // Where a flat graph is looked at from, to come back to.
  get spot() {
    return { scale: this.scale, x: this.x, y: this.y, turn: this.turn };
  }

  // What was drawn from `spot`, moved to where it would be drawn now: how far in pixels, how much larger, and as a matrix in
  // columns for the graphics card.
  since(spot) {
    const grown = this.scale / spot.scale;
    const [c, s] = [grown * Math.cos(this.turn - spot.turn), grown * Math.sin(this.turn - spot.turn)];
    const [x, y] = [this.x - c * spot.x - s * spot.y, -this.y - s * spot.x + c * spot.y]; // y upwards
    const aspect = this.width / this.height;
    const matrix = new Float32Array([
      c, s * aspect, 0, 0,
      -s / aspect, c, 0, 0,
      0, 0, 1, 0,
      (2 * x) / this.width, (2 * y) / this.height, 0, 1,
    ]);
    return { matrix, grown, away: Math.hypot(x, y) };
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.version++;
  }

  rotate(dx, dy) {
    this.turn += dx;
    if (this.solid) this.tilt = Math.max(-1.57, Math.min(1.57, this.tilt + dy));
    this.version++;
  }

  // What is under the pointer stays there.
  zoomAt(factor, px, py) {
    const zoom = Math.max(0.2, Math.min(200, this.zoom * factor));
    const change = zoom / this.zoom;
    const [fromX, fromY] = [px - this.width / 2, py - this.height / 2];
    this.x = fromX - change * (fromX - this.x);
    this.y = fromY - change * (fromY - this.y);
    this.zoom = zoom;
    this.version++;
  }
}
