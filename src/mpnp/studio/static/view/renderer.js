// Points and lines by WebGL: places go to the graphics card once, colours and marks whenever they change.

// Marks of a node, to be added up.
export const MARK = { given: 1, selected: 2, asked: 4, suspect: 8 };

const POINTS = `#version 300 es
uniform mat4 view;
uniform float size, solid, flatFill, pixel;
uniform vec3 ground;
in vec3 place;
in vec4 colour;
in float mark;
out vec3 fill;
flat out int marks;
flat out float across;
void main() {
  gl_Position = view * vec4(place, 1.0);
  marks = int(mark + 0.5);
  if (solid < 0.5) gl_Position.z = marks >= 2 ? -0.8 : marks == 1 ? -0.5 : 0.0;
  float far = solid * clamp(0.5 + 0.5 * gl_Position.z, 0.0, 1.0);
  fill = mix(colour.rgb, ground, 0.55 * far);
  float grow = flatFill > 0.5 ? 1.0 : (marks & 1) == 1 ? 1.45 : 1.0;
  if (marks >= 2) grow = max(grow, 1.3);
  across = size * grow * (1.0 - 0.3 * far);
  if (marks > 0 && flatFill < 0.5) across = max(across, 10.0 * pixel);
  if (marks >= 2) across += 10.0 * pixel;
  gl_PointSize = across;
}`;

const DISCS = `#version 300 es
precision highp float;
uniform float size, flatFill, pixel;
uniform vec3 ink, asks, doubts, ground;
in vec3 fill;
flat in int marks;
flat in float across;
out vec4 shown;
void main() {
  vec2 at = abs(gl_PointCoord - 0.5) * across;
  float halo = marks >= 2 ? 5.0 * pixel : 0.0;
  float edge = across / 2.0 - halo;
  float away = flatFill > 0.5 ? max(at.x, at.y) : length(at);
  float inside = edge - away;
  float ringed = min(2.0 * pixel, 0.3 * edge);
  if (inside < 0.0) {
    if (halo == 0.0 || inside < -halo || inside > -0.4 * halo) discard;
    vec3 light = (marks & 4) == 4 ? asks : (marks & 2) == 2 ? ink : doubts;
    shown = vec4(light, 1.0);
    return;
  }
  bool given = (marks & 1) == 1;
  vec3 colour = given && inside < ringed ? ink : given && inside < 1.7 * ringed ? ground : fill;
  if (flatFill > 0.5 && !given && inside < 0.04 * across) colour = ground;
  shown = vec4(colour, flatFill > 0.5 ? 1.0 : clamp(inside + 0.35, 0.0, 1.0));
}`;

const LINES = `#version 300 es
uniform mat4 view;
in vec3 place;
void main() { gl_Position = view * vec4(place, 1.0); gl_Position.z = 0.5 + 0.49 * gl_Position.z; }`;

const STROKES = `#version 300 es
precision highp float;
uniform vec4 stroke;
out vec4 shown;
void main() { shown = vec4(stroke.rgb * stroke.a, stroke.a); }`;

const SHEET = `#version 300 es
uniform mat4 view;
out vec2 spot;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  spot = corner;
  gl_Position = view * vec4(2.0 * corner - 1.0, 0.0, 1.0);
}`;

const PRINT = `#version 300 es
precision mediump float;
uniform sampler2D picture;
in vec2 spot;
out vec4 shown;
void main() { shown = vec4(texture(picture, spot).rgb, 1.0); }`;

// How strong an edge is among so many ends of edges: less the more there are, more from near by.
export const faintness = (ends, zoom) => Math.max(0.025, Math.min(0.5, (8 * Math.sqrt(zoom)) / Math.sqrt(ends + 1)));

const UNMOVED = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

export class Renderer {
  constructor(canvas) {
    this.canvas = canvas;
    // Discs have soft edges of their own, and lines get theirs where they are kept: without a graphics card it costs most.
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("This browser has no WebGL 2, which the picture needs.");
    this.gl = gl;
    this.points = program(gl, POINTS, DISCS);
    this.lines = program(gl, LINES, STROKES);
    this.sheet = program(gl, SHEET, PRINT);
    [this.kept, this.web] = [gl.createTexture(), gl.createTexture()];
    [this.soft, this.plain, this.strands] = [gl.createFramebuffer(), gl.createFramebuffer(), gl.createRenderbuffer()];
    this.buffers = Object.fromEntries(["place", "colour", "mark", "edge", "focus"].map((name) => [name, gl.createBuffer()]));
    this.focusCount = 0;
  }

  // Places [N × 2 or 3] and edges [E × 2], once.
  load({ places, edges, names, shape }) {
    const { gl } = this;
    const [nodes, dimensions] = places.shape;
    let solid = places;
    if (dimensions === 2) {
      solid = new Float32Array(3 * nodes);
      for (let i = 0; i < nodes; i++) solid.set(places.subarray(2 * i, 2 * i + 2), 3 * i);
    }
    this.nodes = names.length;
    this.solid = dimensions === 3;
    this.board = shape === "board";
    this.edgeCount = edges.length;
    this.webSeen = null;
    this.upload("place", solid, gl.STATIC_DRAW);
    this.upload("edge", edges, gl.STATIC_DRAW, gl.ELEMENT_ARRAY_BUFFER);
    this.upload("mark", new Uint8Array(nodes), gl.DYNAMIC_DRAW);
    this.upload("colour", new Uint8Array(4 * nodes).fill(128), gl.DYNAMIC_DRAW);
  }

  upload(name, values, use, target = this.gl.ARRAY_BUFFER) {
    this.gl.bindVertexArray(null);
    this.gl.bindBuffer(target, this.buffers[name]);
    this.gl.bufferData(target, values, use);
  }

  set colours(bytes) {
    this.upload("colour", bytes, this.gl.DYNAMIC_DRAW);
  }

  set marks(bytes) {
    this.upload("mark", bytes, this.gl.DYNAMIC_DRAW);
  }

  // Edges that are drawn strongly, as pairs of nodes.
  set focus(pairs) {
    this.focusCount = pairs.length;
    this.upload("focus", new Uint32Array(pairs), this.gl.DYNAMIC_DRAW, this.gl.ELEMENT_ARRAY_BUFFER);
  }

  // `every`: draw only every so many nodes, for a machine that cannot keep up. `still`: the same edges will be asked for again.
  draw(camera, { theme, size, edges, every = 1, ratio, still }) {
    const { gl } = this;
    const view = camera.matrix();
    this.clear(theme.ground);
    if (edges) this.drawWeb(camera, view, theme, still);
    if (this.focusCount) this.strokes("focus", this.focusCount, view, [...theme.ink, 0.7]);

    gl.enable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.useProgram(this.points.program);
    const { at } = this.points;
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniformMatrix4fv(at.view, false, view);
    gl.uniform1f(at.size, size * ratio);
    gl.uniform1f(at.pixel, ratio);
    gl.uniform1f(at.solid, this.solid ? 1 : 0);
    gl.uniform1f(at.flatFill, this.board ? 1 : 0);
    for (const name of ["ground", "ink", "asks", "doubts"]) gl.uniform3fv(at[name], theme[name]);
    this.attribute(this.points, "place", 3, gl.FLOAT, 12 * every);
    this.attribute(this.points, "colour", 4, gl.UNSIGNED_BYTE, 4 * every, true);
    this.attribute(this.points, "mark", 1, gl.UNSIGNED_BYTE, every);
    gl.drawArrays(gl.POINTS, 0, Math.ceil(this.nodes / every));
  }

  // All edges. Without a graphics card they are most of the work, and they change only with where one looks from: at rest they
  // are drawn once, with soft edges, and shown again under whatever else changes.
  drawWeb(camera, view, theme, still) {
    const seen = [camera.version, this.canvas.width, this.canvas.height, ...theme.line, ...theme.ground].join();
    const draw = () => this.strokes("edge", this.edgeCount, view, [...theme.line, faintness(this.edgeCount, camera.zoom)]);
    if (!still) {
      draw();
      return;
    }
    if (seen !== this.webSeen) {
      this.softly(theme.ground, draw);
      this.webSeen = seen;
    }
    this.show(this.web);
  }

  // Draw with soft edges into the picture of all edges.
  softly(ground, draw) {
    const { gl, canvas } = this;
    const [width, height] = [canvas.width, canvas.height];
    gl.bindRenderbuffer(gl.RENDERBUFFER, this.strands);
    gl.renderbufferStorageMultisample(gl.RENDERBUFFER, 4, gl.RGBA8, width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.soft);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, this.strands);
    this.clear(ground);
    draw();
    gl.bindTexture(gl.TEXTURE_2D, this.web);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    this.filter(gl.NEAREST); // shown pixel by pixel, which takes half the time
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.soft);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.plain);
    gl.framebufferTexture2D(gl.DRAW_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.web, 0);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // What has just been drawn, kept to be shown again.
  keep() {
    const { gl, canvas } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.kept);
    gl.copyTexImage2D(gl.TEXTURE_2D, 0, gl.RGB, 0, 0, canvas.width, canvas.height, 0);
    this.filter(gl.LINEAR); // shown at any size
  }

  // The kept picture, moved by a matrix in columns: two triangles, however many nodes there are.
  again(matrix, ground) {
    this.clear(ground);
    this.show(this.kept, matrix);
  }

  clear(ground) {
    const { gl, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...ground, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  // How the picture that is bound is shown; it has no other side.
  filter(how) {
    const { gl } = this;
    for (const [name, value] of [["MIN_FILTER", how], ["MAG_FILTER", how], ["WRAP_S", gl.CLAMP_TO_EDGE], ["WRAP_T", gl.CLAMP_TO_EDGE]]) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], value);
    }
  }

  show(picture, matrix = UNMOVED) {
    const { gl } = this;
    gl.disable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.sheet.program);
    gl.bindTexture(gl.TEXTURE_2D, picture);
    gl.uniformMatrix4fv(this.sheet.at.view, false, matrix);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  // Lines lie under all nodes and hide none of each other.
  strokes(buffer, count, view, colour) {
    const { gl, lines } = this;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(lines.program);
    gl.uniformMatrix4fv(lines.at.view, false, view);
    gl.uniform4fv(lines.at.stroke, colour);
    this.attribute(lines, "place", 3, gl.FLOAT, 12);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[buffer]);
    gl.drawElements(gl.LINES, count, gl.UNSIGNED_INT, 0);
  }

  attribute({ program }, name, size, type, stride, normalised = false) {
    const { gl } = this;
    const location = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, normalised, stride, 0);
  }
}

function program(gl, vertex, fragment) {
  const made = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
    const { name } = gl.getActiveUniform(made, i);
    at[name] = gl.getUniformLocation(made, name);
  }
  return { program: made, at };
}
