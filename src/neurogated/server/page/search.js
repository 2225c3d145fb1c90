// Search with the explained recall; without a question, all memories page by page. Also adds memories.

import * as api from "./api.js";
import { beginning, button, h, labelled, number, put, tell } from "./dom.js";
import { act, card, changed, score } from "./memory.js";

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
    const head = [h("header", {}, h("span", { class: "rank" }, place + 1), state && h("span", { class: "tag" }, state), h("span", { class: "score" }, number(one.score)))];
    const same = one.same_as.length ? [h("p", { class: "hint" }, `${one.same_as.length} more say the same`)] : [];
    return card(one.node, { head, extra: [...score(one, widest), ...same, path(one.path, names)].filter(Boolean), again });
  });
  const why = found.kernel && h("p", { class: "hint", dir: "auto" }, `Links followed: ${found.kernel.justification}`);
  return [
    why,
    ...found.notes.map((note) => h("p", { class: "note", dir: "auto" }, note)),
    ...found.conflicts.map((one) => h("p", { class: "note", dir: "auto" }, one.question || one.reason, " ", h("a", { href: "#questions" }, "Answer"))),
    cards.length ? cards : h("p", { class: "hint" }, "No memory fits."),
  ].flat();
}

export async function show(view, question = "") {
  const asked = h("input", { type: "search", name: "question", value: question, autocomplete: "off", dir: "auto" });
  const fresh = h("textarea", { rows: 2, name: "memory", required: true, dir: "auto" });
  const results = h("div", { class: "list", id: "results" });

  function more(page) {
    results.append(...page.memories.map((one) => card(one, { again: refresh })));
    if (!results.children.length) results.append(h("p", { class: "hint" }, "There are no memories yet."));
    if (page.cursor) {
      const next = button("More", act(async () => {
        const following = await api.list(page.cursor);
        next.remove();
        more(following);
      }));
      results.append(next);
    }
  }

  // Only the latest question is answered, in whichever order answers come.
  let turn = 0;

  async function refresh() {
    const [query, mine] = [asked.value.trim(), (turn += 1)];
    history.replaceState(null, "", query ? `#search/${encodeURIComponent(query)}` : "#search");
    const found = await (query ? api.recall(query) : api.list());
    if (mine !== turn) return;
    put(results, ...(query ? answer(found, refresh) : []).filter(Boolean));
    if (query) tell(`${found.memories.length} memories`);
    else more(found);
  }

  const remember = act(async () => {
    asked.value = "";
    await api.add(fresh.value);
    fresh.value = "";
    await refresh();
    changed("Remembered.", refresh);
  });
  put(
    view,
    h("form", { class: "ask", role: "search", onsubmit: act(refresh) }, labelled("Question", asked), h("button", { class: "act main" }, "Recall")),
    h("form", { class: "ask", onsubmit: remember }, labelled("New memory", fresh), h("button", { class: "act" }, "Remember")),
    results,
  );
  await refresh();
}
