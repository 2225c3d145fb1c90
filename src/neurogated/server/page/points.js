// Points in WebGL2: one draw call for all of them.

const VERTEX = `#version 300 es
in vec2 place; in vec4 colour; uniform vec4 camera; uniform float size; out vec4 ink;
void main() {
  gl_Position = vec4(place * camera.xy + camera.zw, 0, 1);
  gl_PointSize = size;
  ink = colour;
}`;
const FRAGMENT = `#version 300 es
precision mediump float; in vec4 ink; out vec4 shown;
void main() {
  float edge = length(gl_PointCoord - 0.5);
  float cover = ink.a * (1.0 - smoothstep(0.38, 0.5, edge));
  if (cover == 0.0) discard;
  shown = vec4(ink.rgb * cover, cover);
}`;

export class Points {
  /** Draw on a canvas. `places` has x and y of each point in turn; null of the canvas's context throws. */
  constructor(canvas, places) {
    this.canvas = canvas;
    this.places = places;
    this.gl = canvas.getContext("webgl2", { premultipliedAlpha: true, antialias: false });
    if (!this.gl) throw new Error("This browser has no WebGL2, so the map shows regions without their memories.");
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      if (this.colours) this.colour(this.colours);
      canvas.dispatchEvent(new Event("ready"));
    });
    this.prepare();
  }

  prepare() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.camera = gl.getUniformLocation(program, "camera");
    this.size = gl.getUniformLocation(program, "size");
    this.inks = gl.createBuffer();
    this.attribute(program, "place", gl.createBuffer(), 2, gl.FLOAT);
    gl.bufferData(gl.ARRAY_BUFFER, this.places, gl.STATIC_DRAW);
    this.attribute(program, "colour", this.inks, 4, gl.UNSIGNED_BYTE);
  }

  attribute(program, name, buffer, width, type) {
    const { gl } = this;
    const place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, width, type, type === gl.UNSIGNED_BYTE, 0, 0);
  }

  /** Give each point red, green, blue and opacity, 0–255. */
  colour(colours) {
    this.colours = colours;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.inks);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, colours, this.gl.DYNAMIC_DRAW);
  }

  /** Draw with the point (x, y) in the middle; `scale` and `size` are in pixels of the canvas. */
  draw({ x, y, scale }, size) {
    const { gl, canvas } = this;
    const [across, down] = [(2 * scale) / canvas.width, (-2 * scale) / canvas.height];
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(this.camera, across, down, -x * across, -y * down);
    gl.uniform1f(this.size, size);
    gl.drawArrays(gl.POINTS, 0, this.places.length / 2);
  }
}
