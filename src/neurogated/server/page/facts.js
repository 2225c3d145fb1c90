// What is known of each subject: what holds now, and what held before.

import * as api from "./api.js";
import { address, button, day, h, hint, labelled, put } from "./dom.js";
import { act, card, changed } from "./memory.js";

/** Take a fact back that was stated; of one that was read, show the memories to correct. */
async function wrong(fact, place, again) {
  if (!fact.sources.length) {
    await api.forget(fact.id);
    await again();
    changed("The fact is forgotten.", again);
    return;
  }
  const sources = await api.readAll(fact.sources);
  put(place, hint("It was read from these memories. Correct or forget the one that is wrong."), sources.filter(Boolean).map((one) => card(one, { again })));
  place.focus();
}

function timeline(facts) {
  const at = (fact) => fact.valid_from ?? fact.timestamp;
  const dated = facts.filter(at).sort((one, other) => Date.parse(at(one)) - Date.parse(at(other)));
  return dated.length > 0 && h(
    "details",
    { class: "more", open: true },
    h("summary", {}, "Timeline"),
    h("ol", { class: "flows timeline" }, dated.map((fact) => h("li", {}, day(at(fact)), fact.valid_to && [" to ", day(fact.valid_to)], ": ", h("bdi", {}, `${fact.attribute} ${fact.is_denied ? "not " : ""}${fact.value}`)))),
  );
}

function row(fact, place, again) {
  return h(
    "tr",
    {},
    h("th", { scope: "row", dir: "auto" }, fact.attribute),
    h("td", { dir: "auto" }, fact.is_denied && h("span", { class: "tag" }, "not"), " ", fact.value),
    h("td", { class: "hint" }, fact.valid_from && ["from ", day(fact.valid_from)], fact.valid_to && [" to ", day(fact.valid_to)]),
    h("td", {}, fact.sources.map((id, rank) => h("a", { href: address("map", id), "aria-label": `Source ${rank + 1}: ${fact.statement}` }, `source ${rank + 1} `))),
    h("td", {}, button("Wrong", act(() => wrong(fact, place, again)), { "aria-label": `Wrong: ${fact.statement}` })),
  );
}

function table(facts, label, place, again) {
  const heads = ["property", "value", "when", "source", "correct"].map((text) => h("th", { scope: "col" }, text));
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, facts.map((fact) => row(fact, place, again)))));
}

export async function show(view, subject = "") {
  const field = h("input", { type: "search", value: subject, autocomplete: "off", dir: "auto" });
  const ask = act(async () => show(view, field.value.trim()));
  history.replaceState(null, "", address("facts", subject));
  const found = await api.facts(subject);
  const now = Date.now();
  const isPast = (fact) => fact.valid_to !== null && Date.parse(fact.valid_to) <= now;
  const again = () => show(view, subject);
  const sections = [...Map.groupBy(found, (fact) => fact.subject)].map(([name, facts]) => {
    const place = h("div", { class: "list", tabindex: -1 });
    const [present, past] = [facts.filter((fact) => !isPast(fact)), facts.filter(isPast)];
    return h(
      "section",
      { class: "panel list", "aria-label": name },
      h("h2", { dir: "auto" }, name),
      present.length ? table(present, `What holds of ${name}`, place, again) : hint("Nothing holds now."),
      past.length > 0 && h("details", { open: true }, h("summary", {}, `Before (${past.length})`), table(past, `What held of ${name}`, place, again)),
      timeline(facts),
      place,
    );
  });
  put(
    view,
    h("form", { class: "ask", role: "search", onsubmit: ask }, labelled("Subject", field), h("button", { class: "act main" }, "Show facts")),
    ...(sections.length ? sections : [hint("Nothing is known.")]),
  );
}
