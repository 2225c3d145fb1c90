// Search with the explained recall; without a question, all memories page by page. Also adds memories.

import * as api from "./api.js";
import { address, beginning, button, h, hint, labelled, note, number, put, tell } from "./dom.js";
import { act, card, changed, score } from "./memory.js";
import { importer, save } from "./transfer.js";

function path(steps, names) {
  if (!steps.length) return null;
  const name = (id) => h("bdi", {}, `“${beginning(names.get(id) ?? "another memory", 50)}”`);
  return h(
    "p",
    { class: "path" },
    "Reached from ",
    name(steps[0].source_id),
    steps.flatMap((step) => [h("span", { class: "arrow" }, " → "), h("span", { class: "chip" }, step.type), h("span", { class: "value" }, ` ${number(step.flow)}`), " → ", name(step.target_id)]),
  );
}

function answer(found, again) {
  const names = new Map(found.memories.map((one) => [one.node.id, one.node.title || one.node.content]));
  const sums = found.memories.map((one) => Object.values(one.contributions).reduce((sum, value) => sum + Math.max(0, value), 0));
  const widest = Math.max(...sums, 1e-9);
  const cards = found.memories.map((one, place) => {
    const state = found.states[one.node.id];
    const head = [h("header", {}, h("span", { class: "rank" }, place + 1), state && h("span", { class: "tag" }, state))];
    const same = one.same_as.length ? [hint(`${one.same_as.length} more say the same`)] : [];
    return card(one.node, { head, extra: [...score(one, widest, names.get(one.path.at(-1)?.source_id), path(one.path, names)), ...same], again });
  });
  const why = found.kernel && h("p", { class: "hint", dir: "auto" }, `Links followed: ${found.kernel.justification}`);
  return [
    why,
    ...found.notes.map((one) => note(one)),
    ...found.conflicts.map((one) => note(one.question || one.reason, " ", h("a", { href: "#questions" }, "Answer"))),
    cards.length ? cards : hint("No memory fits."),
  ].flat();
}

const SHOWN = 30;

/** Return fields that choose among memories, and a function that says whether one is chosen. */
function filters(memories, changed) {
  const choice = (name, of) => {
    const values = [...new Set(memories.flatMap(of))].filter(Boolean).sort();
    const field = h("select", { onchange: changed }, h("option", { value: "" }, "any"), values.map((one) => h("option", { value: one }, one)));
    return [name, field, (one) => of(one).includes(field.value)];
  };
  const day = (name, fits) => {
    const field = h("input", { type: "date", onchange: changed });
    return [name, field, (one) => fits((one.timestamp ?? one.created_at).slice(0, 10), field.value)];
  };
  const all = [
    choice("Session", (one) => [one.scope.session_id]),
    choice("Kind", (one) => [one.kind]),
    choice("Tag", (one) => one.tags),
    day("From", (at, chosen) => at >= chosen),
    day("Until", (at, chosen) => at <= chosen),
  ];
  const element = h("div", { class: "controls", role: "group", "aria-label": "Filters" }, all.map(([name, field]) => h("span", {}, labelled(name, field))));
  return [element, (one) => all.every(([, field, fits]) => !field.value || fits(one))];
}

/** Return all memories, the newest first, with filters; those in `added` are pointed out. */
function everything(first, added, again) {
  const [loaded, lines, count] = [[...first.memories], h("div", { class: "list" }), h("p", { class: "hint", role: "status" })];
  if (!loaded.length) return [hint("There are no memories yet.")];
  let [cursor, most] = [first.cursor, SHOWN];
  const [fields, fits] = filters(loaded, () => draw());
  const more = button("More", act(async () => {
    most += SHOWN;
    if (cursor && loaded.filter(fits).length < most) {
      const page = await api.list(cursor);
      loaded.push(...page.memories);
      ({ cursor } = page);
    }
    draw();
  }));
  const forget = button("", act(async () => {
    const found = own();
    if (!confirm(`Forget these ${found.length} memories?`)) return;
    for (const one of found) await api.forget(one.id);
    await again();
    const back = async () => {
      for (const _ of found) await api.undo();
      await again();
      tell("Undone.");
    };
    tell(`${found.length} memories are forgotten. `, button("Undo", act(back)));
  }));
  const keep = button("", () => save(own()));
  // Those that every user reads belong to nobody here.
  const own = () => loaded.filter((one) => fits(one) && (one.scope.user_id !== null || loaded.every((other) => other.scope.user_id === null)));
  function draw() {
    const found = loaded.filter(fits);
    count.textContent = `${found.length} of ${cursor ? "the newest " : ""}${loaded.length} memories, the newest first`;
    forget.textContent = `Forget these ${own().length}`;
    keep.textContent = `Export these ${own().length}`;
    put(lines, found.slice(0, most).map((one) => card(one, { again, fresh: added.includes(one.id) })), (cursor !== null || found.length > most) && more);
  }
  draw();
  return [fields, h("p", { class: "acts" }, keep, forget), count, lines];
}

export async function show(view, question = "") {
  const asked = h("input", { type: "search", name: "question", value: question, autocomplete: "off", dir: "auto" });
  const fresh = h("textarea", { rows: 2, name: "memory", required: true, dir: "auto" });
  const results = h("div", { class: "list", id: "results" });
  let added = [];

  // Only the latest question is answered, in whichever order answers come.
  let turn = 0;

  async function refresh() {
    const [query, mine] = [asked.value.trim(), (turn += 1)];
    history.replaceState(null, "", address("search", query));
    const found = await (query ? api.recall(query) : api.list());
    if (mine !== turn) return;
    put(results, query ? answer(found, refresh) : everything(found, added, refresh));
    if (query) tell(`${found.memories.length} memories. `, h("a", { href: address("prompt", query) }, "See the prompt"));
  }

  const remember = act(async () => {
    asked.value = "";
    ({ ids: added } = await api.add({ content: fresh.value }));
    fresh.value = "";
    await refresh();
    changed("Remembered.", refresh);
    results.querySelector(".fresh")?.scrollIntoView({ block: "nearest" });
  });
  put(
    view,
    h("form", { class: "ask", role: "search", onsubmit: act(refresh) }, labelled("Question", asked), h("button", { class: "act main" }, "Recall")),
    h("form", { class: "ask", onsubmit: remember }, labelled("New memory", fresh), h("button", { class: "act" }, "Remember")),
    importer(refresh),
    results,
  );
  await refresh();
}
