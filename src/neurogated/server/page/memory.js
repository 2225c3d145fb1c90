// A memory with what a reader can do with it.

import * as api from "./api.js";
import { address, beginning, button, h, labelled, number, put, quote, said, tell, when } from "./dom.js";

/** Tell that something changed, with a button that takes it back. */
export function changed(text, again) {
  const back = async () => {
    const answer = await api.undo();
    await again();
    document.getElementById("view").focus();
    tell(takenBack(answer));
  };
  tell(`${text} `, button("Undo", act(back)));
}

/** Return what an undo took back. */
export function takenBack({ undone, memories }) {
  const shown = memories.slice(0, 3).map((one) => `${one.action === "written" ? "Back" : "Gone"}: ${beginning(one.content, 80)}`);
  return undone ? ["Undone.", ...shown].join(" ") : "There is nothing to undo.";
}

/** Return a listener that tells the errors of `call`. */
export function act(call) {
  return async (subject) => {
    if (subject instanceof Event) subject.preventDefault();
    tell("");
    try {
      await call(subject);
    } catch (error) {
      tell(error.message);
    }
  };
}

/** Return a menu of actions, which closes by itself. */
function menu(label, items) {
  const head = h("summary", { "aria-label": label, class: "act" }, "⋯");
  const box = h("details", { class: "menu" }, head, h("div", { class: "panel", tabindex: -1 }, items));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    box.open = false;
    head.focus();
  });
  box.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !box.contains(event.relatedTarget)) box.open = false;
  });
  box.addEventListener("click", (event) => {
    if (event.target.closest("button, a")) box.open = false;
  });
  return box;
}

document.addEventListener("click", (event) => {
  for (const box of document.querySelectorAll(".menu[open]")) if (!box.contains(event.target)) box.open = false;
});

function details(memory) {
  const rows = {
    kind: memory.kind,
    speaker: memory.speaker,
    session: memory.scope.session_id,
    tags: memory.tags.join(", "),
    from: memory.valid_from && when(memory.valid_from),
    to: memory.valid_to && when(memory.valid_to),
    id: memory.id,
  };
  for (const [name, value] of Object.entries(memory.metadata))
    rows[name] = typeof value === "string" ? value : JSON.stringify(value);
  return h(
    "dl",
    { class: "details" },
    Object.entries(rows).flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", { dir: "auto" }, value)] : [])),
  );
}

/** Return the form that corrects a memory; `done` is called with the new version, or with nothing. */
function correction(memory, done) {
  const text = h("textarea", { rows: 4, required: true, dir: "auto" });
  text.value = memory.content;
  const save = act(async () => done(await api.change(memory.id, text.value)));
  const form = h(
    "form",
    { class: "correct", onsubmit: save },
    labelled("The right text", text),
    h("p", { class: "acts" }, h("button", { class: "act" }, "Save"), button("Cancel", () => done(null))),
  );
  return [form, text];
}

/** Return a memory as a line with a menu. `extra` has elements under its text, `head` those before it. */
export function card(memory, { head = [], extra = [], again = () => {}, fresh = false } = {}) {
  const text = memory.content || memory.title || "(no text)";
  const here = h("article", { class: fresh ? "memory fresh" : "memory", "aria-label": beginning(text) });
  const shared = memory.scope.user_id === null && api.user() !== "";
  const correct = () => {
    const [form, field] = correction(memory, (next) => {
      const after = card(next ?? memory, { head, extra: next ? [] : extra, again, fresh: next !== null });
      here.replaceWith(after);
      after.querySelector(".menu summary").focus();
      if (next) changed("Corrected.", again);
    });
    put(here, form);
    field.focus();
  };
  const forget = async () => {
    await api.forget(memory.id);
    here.remove();
    document.getElementById("view").focus();
    changed("Forgotten.", again);
  };
  const judge = (outcome, words) => act(async () => {
    await api.feedback(memory.id, outcome);
    tell(words);
  });
  const about = beginning(text, 40);
  const reveal = () => {
    const shown = here.querySelector(".details");
    if (shown) shown.remove();
    else here.append(details(memory));
  };
  const item = (name, onclick) => button(name, onclick, { class: "item", "aria-label": `${name}: ${about}` });
  const actions = menu(`Actions: ${about}`, [
    item("Correct", correct),
    item("Forget", act(forget)),
    item("Helpful", judge("success", "Its links are stronger now.")),
    item("Not helpful", judge("fail", "Its links are weaker now.")),
    h("a", { class: "item", href: address("map", memory.id), "aria-label": `Neighbours: ${about}` }, "Neighbours"),
    item("Copy link", act(async () => {
      await navigator.clipboard.writeText(`${location.href.split("#")[0]}${address("map", memory.id)}`);
      tell("The link to the memory is copied.");
    })),
    item("Details", reveal),
  ]);
  const facts = [
    fresh && h("span", { class: "tag" }, "just now"),
    when(memory.timestamp ?? memory.created_at),
    memory.speaker && h("bdi", {}, memory.speaker),
    memory.scope.session_id && h("bdi", {}, memory.scope.session_id),
    memory.tags.map((tag) => h("span", { class: "tag" }, tag)),
    shared && "shared",
  ];
  const title = memory.title && memory.content && h("p", { class: "title", dir: "auto" }, h("strong", {}, memory.title));
  here.append(h("div", { class: "row" }, head, h("div", {}, title, quote(text), h("p", { class: "facts" }, facts.flat())), actions), ...extra);
  return here;
}

const REASONS = {
  similarity: "its words or meaning fit the question",
  start: "its words or meaning fit the question",
  activation: "it is linked to memories that fit",
  recency: "it is recent",
  energy: "it is used often or important",
  time: "its time fits",
  place: "its place fits",
  sentiment: "its feeling fits",
  cause: "it names a cause",
  effect: "it names an effect",
  replaces: "it stands for another memory",
  reranker: "the reranker puts it higher",
};

const WEAK = 0.25;

/** Return why a memory was found, in words: the terms that make most of its score, the largest first. */
export function because(contributions, neighbour) {
  const terms = Object.entries(contributions).filter(([, value]) => value > 0).sort(([, one], [, other]) => other - one);
  const sum = terms.reduce((total, [, value]) => total + value, 0);
  const reason = ([name, value]) => {
    if (name === "activation" && neighbour) return `it is linked to “${beginning(neighbour, 40)}”`;
    return `${REASONS[name] ?? name}${["similarity", "start"].includes(name) && value < WEAK ? " a little" : ""}`;
  };
  const words = terms.filter(([, value]) => value > 0.1 * sum).map(reason);
  return words.length ? `It is here because ${words.join(", and ")}.` : "";
}

/** Return a link to a memory with its neighbours. */
export const link = (memory, text = "Open") =>
  h("a", { href: address("map", memory.id), "aria-label": `${text}: ${beginning(said(memory), 40)}` }, text);

/** Return why a memory was found in words; on demand the terms of its score, and `more`. */
export function score(recalled, widest, neighbour, more) {
  const terms = Object.entries(recalled.contributions).filter(([, value]) => value);
  let right = 0;
  const parts = terms.map(([name, value]) => {
    const width = Math.min(100, (100 * Math.abs(value)) / widest);
    const left = value > 0 ? right : Math.max(0, right - width);
    right = value > 0 ? right + width : left;
    return h("span", { class: `term ${name.replaceAll("_", "-")}${value < 0 ? " below" : ""}`, span: [left, width] });
  });
  const words = terms.map(([name, value]) => h("span", { class: "summand" }, `${name.replaceAll("_", " ")} `, h("span", { class: "value" }, number(value))));
  return [
    h("p", { class: "why hint" }, because(recalled.contributions, neighbour)),
    h(
      "details",
      { class: "more" },
      h("summary", {}, "Numbers"),
      h("span", { class: "bar", "aria-hidden": "true" }, parts),
      h("p", { class: "sum" }, words.flatMap((word, place) => (place ? [h("span", { class: "plus" }, " + "), word] : [word])), ` = ${number(recalled.score)}`),
      more,
    ),
  ];
}
