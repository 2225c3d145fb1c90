// The text that an agent gets for a question: each line with its reason and its tokens, and what had no place.

import * as api from "./api.js";
import { address, beginning, button, h, hint, labelled, note, put, said, tell } from "./dom.js";
import { act, because, link } from "./memory.js";

const BUDGET = 2000;
const MOST = 20;

/** Return the frame of a text, and the lines of each memory in it. */
function parts(text) {
  const [first, ...lines] = text.split("\n");
  const last = lines.pop();
  const found = [];
  for (const line of lines) {
    if (line.startsWith("- ") || !found.length) found.push(line);
    else found[found.length - 1] += `\n${line}`;
  }
  return { first, found, last };
}

function entry(line, memory, found) {
  const words = (id) => found.memories.find((one) => one.node.id === id)?.node.content;
  const choice = found.choices[memory.node.id];
  const cut = found.excerpts.includes(memory.node.id) && h("span", { class: "tag" }, "shortened to fit");
  return h(
    "li",
    {},
    h("p", { class: "exact", dir: "auto" }, line),
    h("p", { class: "facts" }, `${choice.tokens} tokens. Number ${choice.rank} of the recall. `, cut, because(choice.contributions, words(choice.neighbour)), choice.repeats && choice.repetition > 0.5 && " It says much the same as another line. ", " ", link(memory.node)),
  );
}

function result(found) {
  if (!found.text) return [hint("The prompt would be empty."), ...found.notes.map((one) => note(one))];
  const { first, found: lines, last } = parts(found.text);
  const used = found.memories.reduce((sum, one) => sum + found.choices[one.node.id].tokens, 0);
  const copy = act(async () => {
    await navigator.clipboard.writeText(found.text);
    tell("Copied.");
  });
  const out = found.left_out;
  const others = h("details", { class: "panel" }, h("summary", {}, `Left out (${out.length})`));
  others.addEventListener("toggle", act(async () => {
    if (!others.open || others.children.length > 1) return;
    const list = h("ol", { class: "flows" });
    others.append(hint("They were recalled, too, the best first. They had no place in the budget, or say what other lines say."), list);
    const memories = await api.readAll(out.slice(0, MOST));
    list.append(...memories.filter(Boolean).map((one) => h("li", { dir: "auto" }, beginning(said(one), 200), " ", link(one))));
    if (out.length > MOST) others.append(hint(`${out.length - MOST} more.`));
  }));
  return [
    h("p", { id: "spent" }, `${found.tokens} of ${found.budget} tokens: ${lines.length} memories with ${used}, and the lines around them with ${found.tokens - used}. ${out.length} recalled memories were left out.`),
    ...found.notes.map((one) => note(one)),
    h("div", { class: "panel" }, h("p", { class: "exact" }, first), h("ol", { class: "plain" }, lines.map((line, place) => entry(line, found.memories[place], found))), h("p", { class: "exact" }, last)),
    out.length > 0 && others,
    h("details", { class: "panel" }, h("summary", {}, "The text as one"), h("p", { class: "acts" }, button("Copy", copy)), h("pre", { class: "exact", tabindex: 0, role: "region", "aria-label": "The text as one", id: "whole" }, found.text)),
  ].filter(Boolean);
}

export async function show(view, question = "") {
  const asked = h("input", { type: "search", value: question, required: true, autocomplete: "off", dir: "auto" });
  const budget = h("input", { type: "number", min: 1, max: 100000, value: BUDGET, required: true });
  const shown = h("div", { class: "list", id: "prompt", "aria-live": "polite" });
  const preview = act(async () => {
    history.replaceState(null, "", address("prompt", asked.value));
    put(shown, result(await api.context(asked.value, Number(budget.value))));
  });
  put(
    view,
    hint("The text that an agent puts into its prompt for a question or a task, exactly as it gets it."),
    h("form", { class: "ask three", onsubmit: preview }, h("div", {}, labelled("Question or task", asked)), h("div", {}, labelled("Budget in tokens", budget)), h("button", { class: "act main" }, "Preview")),
    shown,
  );
  if (question) await preview(question);
}
