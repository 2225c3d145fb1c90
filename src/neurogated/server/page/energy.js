// The energy and the layers of the memories over time, as a curve and as a table.

import * as api from "./api.js";
import { h, hint, number, put, svg } from "./dom.js";

const DAYS = 14;

function curve(moments) {
  const point = ({ energy }, place) => `${(600 * place) / (moments.length - 1)},${100 - 100 * energy}`;
  const [past, future] = [moments.slice(0, DAYS + 1).map(point), moments.map(point).slice(DAYS)];
  const label = `Mean energy, ${DAYS} days ago ${number(moments[0].energy)}, now ${number(moments[DAYS].energy)}, in ${DAYS} days without use ${number(moments.at(-1).energy)}`;
  return svg(
    "svg",
    { viewBox: "-44 -20 654 152", class: "curve", role: "img", "aria-label": label },
    [0, 0.5, 1].map((share) => [svg("line", { x1: 0, x2: 600, y1: 100 - 100 * share, y2: 100 - 100 * share, class: "grid" }), svg("text", { x: -8, y: 105 - 100 * share, class: "before" }, share)]).flat(),
    [0, DAYS, 2 * DAYS].map((place) => svg("text", { x: (300 * place) / DAYS, y: 120, class: ["after", "", "before"][place / DAYS] }, place === DAYS ? "today" : moments[place].day)),
    svg("line", { x1: 300, x2: 300, y1: 0, y2: 100, class: "present" }),
    [DAYS, 2 * DAYS].map((place) => [svg("circle", { cx: (300 * place) / DAYS, cy: 100 - 100 * moments[place].energy, r: 3 }), svg("text", { x: (300 * place) / DAYS - 6, y: 92 - 100 * moments[place].energy, class: "before" }, number(moments[place].energy))]).flat(),
    svg("polyline", { points: past.join(" ") }),
    svg("polyline", { points: future.join(" "), "stroke-dasharray": "4 4" }),
  );
}

export async function show(view) {
  put(view, hint("Reading the past …"));
  const moments = await api.energy(DAYS);
  const layers = Object.keys(moments[0].layers);
  const total = (one) => layers.reduce((sum, name) => sum + one.layers[name], 0);
  const most = Math.max(1, ...moments.map(total));
  const rows = moments.map((one, place) => h(
    "tr",
    { class: place === DAYS && "present" },
    h("th", { scope: "row" }, one.day, place === DAYS && " now"),
    h("td", { class: "wide" }, h("span", { class: "stack", "aria-hidden": "true" }, layers.map((name) => h("span", { class: name, span: [0, (100 * one.layers[name]) / most] })))),
    layers.map((name) => h("td", { class: "value" }, one.layers[name])),
    h("td", { class: "value" }, number(one.energy)),
  ));
  const heads = layers.map((name) => h("th", { scope: "col" }, h("span", { class: `key ${name}` }), name));
  put(
    view,
    h("h2", {}, "Energy over time"),
    hint("After today: without any further use. The past has the memories of that time with their present uses."),
    h("div", { class: "panel" }, h("p", { class: "hint", "aria-hidden": "true" }, "Mean energy, 0 to 1; the dashes are the forecast"), curve(moments)),
    h(
      "div",
      { class: "panel chart", tabindex: 0, role: "region", "aria-label": "Layers by day" },
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "day"), h("th", { scope: "col", class: "wide" }, h("span", { class: "unseen" }, "share")), heads, h("th", { scope: "col" }, "mean energy"))), h("tbody", {}, rows)),
    ),
  );
}
