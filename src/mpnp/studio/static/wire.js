// The other end of messages.py: one socket, JSON text up, JSON text or binary frames down.

const TYPES = { float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, int16: Int16Array };

export function decode(frame) {
  if (typeof frame === "string") return JSON.parse(frame);
  const length = new DataView(frame).getUint32(0, true);
  const message = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, length)));
  let at = Math.ceil((4 + length) / 8) * 8;
  for (const [name, type, shape] of message.arrays) {
    const size = shape.reduce((a, b) => a * b, 1);
    message[name] = new TYPES[type](frame, at, size);
    message[name].shape = shape;
    at += Math.ceil(message[name].byteLength / 8) * 8;
  }
  return message;
}

export class Wire {
  // `hear(message)` gets every message, `status("open" | "lost")` every change of the connection.
  constructor(room, hear, status) {
    Object.assign(this, { room, hear, status, wait: 300 });
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(`ws://${location.host}/live/${encodeURIComponent(this.room)}`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.wait = 300;
      this.status("open");
    };
    this.socket.onmessage = (event) => this.hear(decode(event.data));
    this.socket.onclose = () => {
      this.status("lost");
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, 5000);
    };
  }

  // Whether it could be sent.
  send(kind, fields = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ kind, ...fields }));
    return true;
  }
}
