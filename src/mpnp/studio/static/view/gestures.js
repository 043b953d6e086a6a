// Pointers: drag, wheel, pinch, twist, loop and tap, for mouse, pen and fingers alike.

const STILL = 5; // pixels a tap may wander

// `acts`: pan(dx, dy), rotate(dx, dy), zoom(factor, x, y), tap(x, y, reach), hover(x, y), loop(points), loopEnd(points),
// and mode(event): "pan", "turn" or "loop" for a drag that begins so.
export function listen(canvas, acts) {
  const down = new Map();
  let mode = null;
  let loop = [];
  let moved = 0;
  let start = null;

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const drop = () => {
    loop = [];
    acts.loop([]);
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    down.set(event.pointerId, at(event));
    if (down.size === 1) {
      [mode, moved, start] = [acts.mode(event), 0, at(event)];
      loop = [start];
    } else {
      mode = "pinch";
      drop();
    }
  });

  canvas.addEventListener("pointermove", (event) => {
    const now = at(event);
    const before = down.get(event.pointerId);
    if (!before) {
      acts.hover(...now);
      return;
    }
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    moved = Math.max(moved, Math.hypot(now[0] - start[0], now[1] - start[1]));
    if (mode === "pinch") pinch(event.pointerId, before, now);
    down.set(event.pointerId, now);
    if (mode === "pinch" || moved < STILL) return;
    if (mode === "loop") {
      loop.push(now);
      acts.loop(loop);
    } else if (mode === "turn") acts.rotate(dx / 160, dy / 160);
    else acts.pan(dx, dy);
  });

  // Two fingers: the middle pans, the distance zooms, the angle turns.
  function pinch(id, before, now) {
    const other = [...down].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const [a, b] = [[before[0] - other[0], before[1] - other[1]], [now[0] - other[0], now[1] - other[1]]];
    moved = Infinity;
    acts.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    acts.zoom(Math.hypot(...b) / Math.max(Math.hypot(...a), 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    const twist = Math.atan2(b[1], b[0]) - Math.atan2(a[1], a[0]);
    if (Math.abs(twist) < 0.5) acts.rotate(acts.solid() ? 0 : -twist, 0);
  }

  const up = (event) => {
    if (!down.delete(event.pointerId)) return;
    if (down.size) return;
    if (event.type === "pointerup") {
      if (moved < STILL && event.button === 0) acts.tap(...at(event), event.pointerType === "touch" ? 24 : 14);
      else if (mode === "loop" && loop.length > 2) acts.loopEnd(loop);
    }
    drop();
    mode = null;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => acts.hover(-1e9, -1e9));
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const step = event.deltaY * (event.deltaMode === 1 ? 20 : 1);
      acts.zoom(Math.exp(-Math.max(-200, Math.min(200, step)) / 300), ...at(event));
    },
    { passive: false },
  );
}
