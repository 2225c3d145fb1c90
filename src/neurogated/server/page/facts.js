// What is known of each subject: what holds now, and what held before.

import * as api from "./api.js";
import { h, labelled, put, when } from "./dom.js";
import { act } from "./memory.js";

function row(fact) {
  return h(
    "tr",
    {},
    h("th", { scope: "row", dir: "auto" }, fact.attribute),
    h("td", { dir: "auto" }, fact.is_denied && h("span", { class: "tag" }, "not"), " ", fact.value),
    h("td", { class: "hint" }, fact.valid_from && ["from ", when(fact.valid_from)], fact.valid_to && [" to ", when(fact.valid_to)]),
    h("td", {}, fact.sources.map((id, place) => h("a", { href: `#map/${encodeURIComponent(id)}`, "aria-label": `Source ${place + 1}: ${fact.statement}` }, `source ${place + 1} `))),
  );
}

function table(facts, label) {
  const heads = ["property", "value", "when", "source"].map((text) => h("th", { scope: "col" }, text));
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, facts.map(row))));
}

export async function show(view, subject = "") {
  const field = h("input", { type: "search", value: subject, autocomplete: "off", dir: "auto" });
  const ask = act(async () => show(view, field.value.trim()));
  history.replaceState(null, "", subject ? `#facts/${encodeURIComponent(subject)}` : "#facts");
  const found = await api.facts(subject);
  const now = Date.now();
  const isPast = (fact) => fact.valid_to !== null && Date.parse(fact.valid_to) <= now;
  const sections = [...Map.groupBy(found, (fact) => fact.subject)].map(([name, facts]) => {
    const [present, past] = [facts.filter((fact) => !isPast(fact)), facts.filter(isPast)];
    return h(
      "section",
      { class: "panel list", "aria-label": name },
      h("h3", { dir: "auto" }, name),
      present.length ? table(present, `What holds of ${name}`) : h("p", { class: "hint" }, "Nothing holds now."),
      past.length > 0 && h("details", { open: true }, h("summary", {}, `Before (${past.length})`), table(past, `What held of ${name}`)),
    );
  });
  put(
    view,
    h("form", { class: "ask", role: "search", onsubmit: ask }, labelled("Subject", field), h("button", { class: "act main" }, "Show facts")),
    ...(sections.length ? sections : [h("p", { class: "hint" }, "Nothing is known.")]),
  );
}
