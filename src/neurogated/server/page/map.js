// The map with its list of communities, and the neighbourhood of the memory that the reader chooses.

import * as api from "./api.js";
import { address, beginning, button, h, hint, labelled, number, put, said, svg, tell } from "./dom.js";
import { act, card } from "./memory.js";
import { Picture } from "./picture.js";

const MEMBERS = 20;
const inkOf = (link) => `light-dark(${link.light}, ${link.dark})`;

/** Return a memory in the middle of its neighbours, as a picture and in words; `open` shows another one's. */
function neighbourhood({ memories, links, more }, open, again) {
  const [centre, ...others] = memories;
  const place = new Map(others.map((one, rank) => [one.id, (2 * Math.PI * rank) / others.length]));
  const spot = (id) => (place.has(id) ? [150 * Math.sin(place.get(id)), -150 * Math.cos(place.get(id))] : [0, 0]);
  const lines = links.map((link) => {
    const [[x1, y1], [x2, y2]] = [spot(link.source), spot(link.target)];
    return svg("line", { x1, y1, x2, y2, class: "line", ink: inkOf(link), "stroke-width": 1 + 3 * link.weight });
  });
  const dots = memories.map((one, rank) => {
    const [cx, cy] = spot(one.id);
    return [svg("circle", { cx, cy, r: 12 }), svg("text", { x: cx, y: cy + 4 }, rank || "")];
  });
  const picture = svg("svg", { viewBox: "-180 -180 360 360", class: "around", role: "img", "aria-label": `${others.length} neighbours, listed below by number` }, lines, dots.flat());
  const words = (one) => {
    const edges = links.filter((link) => [link.source, link.target].includes(one.id) && [link.source, link.target].includes(centre.id));
    return h(
      "li",
      {},
      edges.map((link) => [h("span", { class: "chip", ink: inkOf(link) }, link.source === centre.id ? "→ " : "← ", link.relation ?? link.type), h("span", { class: "value" }, ` ${number(link.weight)} `)]).flat(),
      button(beginning(said(one)), () => open(one.id), { class: "link", dir: "auto" }),
    );
  };
  return [
    card(centre, { again }),
    others.length ? picture : hint("No memory is linked to it."),
    h("ol", { class: "flows" }, others.map(words)),
    more > 0 && hint(`${more} more neighbours are not shown.`),
  ].filter(Boolean);
}

function controls(picture, map) {
  const by = h("select", {}, [["region", "community"], ["layer", "layer"], ["energy", "energy"]].map(([value, text]) => h("option", { value }, text)));
  by.addEventListener("change", () => {
    picture.filter.by = by.value;
    picture.paint();
  });
  const until = h("input", { type: "range", min: 0, max: map.ids.length, value: map.ids.length });
  until.addEventListener("input", () => {
    picture.filter.until = Number(until.value);
    picture.paint();
    tell(`The first ${until.value} of ${map.ids.length} memories, by when they were added`);
  });
  const layers = map.layers.map((name, place) => {
    const box = h("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      picture.filter.layers[box.checked ? "add" : "delete"](place);
      picture.paint();
    });
    const count = map.layer.filter((one) => one === place).length;
    return h("label", {}, box, h("span", { class: `key ${name}` }), `${name} ${count}`);
  });
  return h(
    "div",
    { class: "controls" },
    h("span", {}, labelled("Colour by", by)),
    h("fieldset", {}, h("legend", { class: "unseen" }, "Layers"), layers),
    h("span", {}, labelled("Up to", until)),
    h("span", { class: "acts" }, button("+", () => picture.zoom(1.5), { "aria-label": "Zoom in" }), button("−", () => picture.zoom(1 / 1.5), { "aria-label": "Zoom out" }), button("Whole map", () => picture.whole())),
  );
}

export async function show(view, chosen = "") {
  put(view, hint("Drawing the map …"));
  const map = await api.map();
  const places = new Map(map.ids.map((id, place) => [id, place]));
  const about = h("section", { class: "list", "aria-label": "Chosen on the map", "aria-live": "polite", tabindex: -1 });
  const again = () => show(view);

  const open = act(async (id) => {
    const found = await api.neighbourhood(id);
    history.replaceState(null, "", address("map", id));
    picture.mark(places.get(id) ?? -1);
    put(about, h("h2", {}, "Neighbours"), ...neighbourhood(found, open, again));
    about.focus({ preventScroll: window.innerWidth > 1000 });
  });
  const known = new Map();
  const words = async (place) => {
    if (!known.has(place)) known.set(place, api.readAll([map.ids[place]]).then(([one]) => one && beginning(said(one), 120)));
    return known.get(place);
  };
  const picture = new Picture(map, (place) => open(map.ids[place]), words);

  const members = act(async (region) => {
    picture.show(region);
    const inside = map.ids.map((_, place) => place).filter((place) => map.region[place] === region);
    const best = inside.sort((one, other) => map.energy[other] - map.energy[one]).slice(0, MEMBERS);
    const memories = await api.readAll(best.map((place) => map.ids[place]));
    const { name, size, keywords } = map.regions[region];
    const bridges = map.bridges.filter((one) => one.slice(0, 2).includes(region));
    put(
      about,
      h("h2", { dir: "auto" }, name || "In no community"),
      h("p", { class: "hint", dir: "auto" }, keywords.join(", ")),
      ...bridges.map(([first, second, id]) => h("p", {}, "Bridge to ", h("bdi", {}, map.regions[first === region ? second : first].name), ": ", button("open its memory", () => open(id), { class: "link" }))),
      hint(`${size} memories, those with the most energy first:`),
      h("ul", { class: "flows" }, memories.filter(Boolean).map((one) => h("li", {}, button(beginning(said(one)), () => open(one.id), { class: "link", dir: "auto" })))),
    );
    about.focus({ preventScroll: window.innerWidth > 1000 });
  });
  const named = map.regions.map((region, place) =>
    region.size > 0 && h("li", {}, button("", () => members(place), { class: "link", dir: "auto" }), h("span", { class: "hint" }, ` ${region.size}`)));
  map.regions.forEach((region, place) => named[place] && named[place].firstChild.append(region.name || "in no community"));
  put(
    view,
    controls(picture, map),
    h("div", { class: "beside" }, picture.element, h("div", { class: "list" }, about, h("h2", {}, "Communities"), h("ol", { class: "flows regions" }, named))),
  );
  if (!map.ids.length) about.append(hint("There are no memories yet."));
  if (chosen) await open(chosen);
}
