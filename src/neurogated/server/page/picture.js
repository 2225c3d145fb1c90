// The picture of the map: points below, regions with their links and names above, and a camera.

import { Points } from "./points.js";
import { beginning, h, tell } from "./dom.js";

const GOLDEN = 137.508;
const NEAR = 10;
const POINT = 1.3;
const LAYER_HUES = [145, 35, 0, 220];

function rgb(hue, saturation, lightness) {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((turn) => {
    const place = (turn + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
  });
}

export class Picture {
  /** Draw a map. `chosen` is called with the number of a memory that the reader chooses; `words` awaits its text. */
  constructor(map, chosen, words) {
    this.map = map;
    this.chosen = chosen;
    this.words = words;
    this.marked = -1;
    this.pointed = -1;
    this.tip = h("p", { class: "tip", role: "status", dir: "auto", hidden: true });
    this.filter = { by: "region", layers: new Set([0, 1, 2, 3]), until: map.ids.length };
    this.back = h("canvas", { "aria-hidden": "true" });
    this.front = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": `Map of ${map.ids.length} memories in ${map.regions.length - 1} communities. Arrow keys move and name the memory in the middle, plus and minus zoom, 0 shows all, Enter opens the memory in the middle. The list of communities has the same.`,
    });
    this.element = h("div", { class: "sky" }, this.back, this.front, this.tip);
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.paint());
    this.back.addEventListener("ready", () => this.later());
    try {
      const places = new Float32Array(2 * map.ids.length);
      map.x.forEach((x, place) => places.set([x, map.y[place]], 2 * place));
      this.points = new Points(this.back, places);
    } catch (error) {
      tell(error.message);
    }
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  resize() {
    this.ratio = window.devicePixelRatio;
    for (const canvas of [this.back, this.front]) {
      canvas.width = Math.max(1, this.element.clientWidth * this.ratio);
      canvas.height = Math.max(1, this.element.clientHeight * this.ratio);
    }
    if (!this.camera) this.whole();
    this.paint();
  }

  whole() {
    const around = this.map.regions.filter((one) => one.size);
    const [left, top] = ["x", "y"].map((axis) => Math.min(...around.map((one) => one[axis] - one.radius)));
    const [right, bottom] = ["x", "y"].map((axis) => Math.max(...around.map((one) => one[axis] + one.radius)));
    const { width, height } = this.front;
    const scale = 0.92 * Math.min(width / (right - left), height / (bottom - top));
    this.camera = { x: (left + right) / 2, y: (top + bottom) / 2, scale: Number.isFinite(scale) ? scale : 1 };
    this.later();
  }

  show(region) {
    const { x, y, radius } = this.map.regions[region];
    this.camera = { x, y, scale: (0.4 * Math.min(this.front.width, this.front.height)) / Math.max(radius, 1) };
    this.later();
  }

  mark(place) {
    this.marked = place;
    this.later();
  }

  /** Show the words of a memory beside its point; of none for -1. */
  async point(place) {
    if (place === this.pointed) return;
    this.pointed = place;
    this.tip.hidden = true;
    this.later();
    const text = place < 0 ? "" : await this.words(place);
    if (place !== this.pointed || !text) return;
    this.tip.textContent = text;
    this.tip.hidden = false;
    this.later();
  }

  zoom(factor, [x, y] = [this.front.width / 2, this.front.height / 2]) {
    const [fromX, fromY] = this.at(x, y);
    this.camera.scale = Math.min(400, Math.max(0.02, this.camera.scale * factor));
    const [toX, toY] = this.at(x, y);
    this.camera.x += fromX - toX;
    this.camera.y += fromY - toY;
    this.later();
  }

  at(x, y) {
    const { camera, front } = this;
    return [camera.x + (x - front.width / 2) / camera.scale, camera.y + (y - front.height / 2) / camera.scale];
  }

  isShown(place) {
    return place < this.filter.until && this.filter.layers.has(this.map.layer[place]);
  }

  /** Return the number of the nearest memory to a pixel, on its point or within some pixels; -1 if there is none. */
  nearest(pixel, within = Math.max(NEAR * this.ratio, (POINT / 2) * this.camera.scale)) {
    const [x, y] = this.at(...pixel);
    let [found, least] = [-1, (within / this.camera.scale) ** 2];
    for (let place = 0; place < this.map.ids.length; place += 1) {
      const distance = (this.map.x[place] - x) ** 2 + (this.map.y[place] - y) ** 2;
      if (distance < least && this.isShown(place)) [found, least] = [place, distance];
    }
    return found;
  }

  ink(place) {
    const light = this.dark.matches ? 0.68 : 0.42;
    if (this.filter.by === "layer") return rgb(LAYER_HUES[this.map.layer[place]], 0.7, light);
    if (this.filter.by === "energy") return rgb(265, this.map.energy[place], this.dark.matches ? 0.35 + 0.5 * this.map.energy[place] : 0.75 - 0.45 * this.map.energy[place]);
    const region = this.map.region[place];
    return region === this.map.regions.length - 1 ? rgb(220, 0.1, 0.55) : rgb((region * GOLDEN) % 360, 0.6, light);
  }

  /** Colour the points again, after the filter or the theme has changed. */
  paint() {
    const colours = new Uint8Array(4 * this.map.ids.length);
    for (let place = 0; place < this.map.ids.length; place += 1)
      if (this.isShown(place)) colours.set([...this.ink(place), 235], 4 * place);
    this.points?.colour(colours);
    this.later();
  }

  later() {
    // Without a size, which the first look at the element gives, nothing can be drawn.
    if (this.camera && !this.waiting) {
      this.waiting = requestAnimationFrame(() => {
        this.waiting = 0;
        this.draw();
      });
    }
  }

  draw() {
    const { map, camera, front, ratio } = this;
    this.points?.draw(camera, Math.max(2.5 * ratio, POINT * camera.scale));
    const style = getComputedStyle(this.element);
    const [text, edge, accent] = ["--text", "--muted", "--accent"].map((name) => style.getPropertyValue(name));
    const pen = front.getContext("2d");
    const spot = ({ x, y }) => [front.width / 2 + (x - camera.x) * camera.scale, front.height / 2 + (y - camera.y) * camera.scale];
    pen.clearRect(0, 0, front.width, front.height);
    const stroke = (colour, width, opacity, path) => {
      Object.assign(pen, { strokeStyle: colour, lineWidth: width * ratio, globalAlpha: opacity });
      pen.beginPath();
      path();
      pen.stroke();
    };
    const line = (first, second, colour, width, opacity) =>
      stroke(colour, width, opacity, () => [first, second].forEach((one) => pen.lineTo(...spot(map.regions[one]))));
    const heaviest = Math.max(...map.links.map((one) => one[2]), 1e-9);
    for (const [first, second, weight] of map.links) line(first, second, edge, 1 + (5 * weight) / heaviest, 0.12 + (0.3 * weight) / heaviest);
    for (const [first, second] of map.bridges) line(first, second, accent, 1.5, 0.5);
    const ring = (place, radius, colour, width) => stroke(colour, width, 1, () => pen.arc(...spot(place), radius, 0, 2 * Math.PI));
    pen.font = `600 ${12 * ratio}px ${style.fontFamily}`;
    pen.textAlign = "center";
    for (const region of map.regions) {
      const radius = region.radius * camera.scale;
      if (!region.size || radius < 2) continue;
      ring(region, radius, edge, 0.75);
      if (radius < 16 * ratio || !region.name) continue;
      const [x, y] = spot(region);
      const name = beginning(region.name, Math.max(12, Math.floor(radius / (2.5 * ratio))));
      pen.strokeStyle = style.getPropertyValue("--panel");
      pen.lineWidth = 3 * ratio;
      pen.strokeText(name, x, y - radius + 16 * ratio);
      pen.fillStyle = text;
      pen.fillText(name, x, y - radius + 16 * ratio);
    }
    const memory = (place) => ({ x: map.x[place], y: map.y[place] });
    if (this.pointed >= 0) {
      const point = memory(this.pointed);
      ring(point, Math.max(6 * ratio, 0.8 * camera.scale), text, 2);
      const [x, y] = spot(point).map((value) => value / ratio + 12);
      this.tip.style.left = `${Math.max(4, Math.min(x, this.element.clientWidth - this.tip.offsetWidth - 4))}px`;
      this.tip.style.top = `${Math.max(4, Math.min(y, this.element.clientHeight - this.tip.offsetHeight - 4))}px`;
    }
    if (this.marked >= 0) ring(memory(this.marked), Math.max(7 * ratio, camera.scale), accent, 3);
  }

  listen() {
    const { front } = this;
    const on = (names, call, more) => names.split(" ").forEach((name) => front.addEventListener(name, call, more));
    const held = new Map();
    let moved = 0;
    const pixel = (event) => [event.offsetX * this.ratio, event.offsetY * this.ratio];
    const spread = () => {
      const [[left, top], [right, bottom]] = held.values();
      return Math.hypot(right - left, bottom - top) || 1;
    };
    on("pointerdown", (event) => {
      front.setPointerCapture(event.pointerId);
      held.set(event.pointerId, pixel(event));
      moved = 0;
    });
    on("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return void this.point(this.nearest(pixel(event)));
      const wide = held.size === 2 && spread();
      const now = pixel(event);
      held.set(event.pointerId, now);
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (wide) return void this.zoom(spread() / wide, now);
      this.move(before[0] - now[0], before[1] - now[1]);
    });
    const release = (event) => held.delete(event.pointerId);
    on("pointerup", (event) => {
      const found = release(event) && moved < 4 * this.ratio ? this.nearest(pixel(event)) : -1;
      if (found >= 0) this.chosen(found);
    });
    on("pointercancel", release);
    on("pointerleave blur", () => this.point(-1));
    on("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), pixel(event));
    }, { passive: false });
    on("keydown", (event) => {
      const step = 60 * this.ratio;
      const middle = [front.width / 2, front.height / 2];
      const deeds = {
        ArrowLeft: () => this.move(-step, 0),
        ArrowRight: () => this.move(step, 0),
        ArrowUp: () => this.move(0, -step),
        ArrowDown: () => this.move(0, step),
        "+": () => this.zoom(1.4),
        "=": () => this.zoom(1.4),
        "-": () => this.zoom(1 / 1.4),
        0: () => this.whole(),
        Enter: () => this.nearest(middle, Infinity) >= 0 && this.chosen(this.nearest(middle, Infinity)),
      };
      if (!(event.key in deeds) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      deeds[event.key]();
      this.point(this.nearest(middle, Infinity));
    });
  }

  move(right, down) {
    this.camera.x += right / this.camera.scale;
    this.camera.y += down / this.camera.scale;
    this.later();
  }
}
