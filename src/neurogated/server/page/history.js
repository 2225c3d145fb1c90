// What changed, the latest first, and how to take it back.

import * as api from "./api.js";
import { beginning, button, h, hint, put, tell, when } from "./dom.js";
import { act } from "./memory.js";

export async function show(view) {
  const list = h("ol", { class: "plain" });
  const item = (entry) => {
    const back = act(async () => {
      await api.undo(entry.sequence);
      await show(view);
      tell("The memory is as it was after this change.");
    });
    return h(
      "li",
      { class: "panel entry" },
      h("p", { class: "facts" }, when(entry.at), entry.reason && h("bdi", {}, entry.reason)),
      entry.memories.map((one) => h("p", { dir: "auto" }, h("span", { class: "tag" }, one.action), " ", beginning(one.content, 300))),
      entry.sequence !== null && button("Undo back to here", back, { "aria-label": `Undo back to change ${entry.sequence}` }),
    );
  };
  const next = button("More", act(() => more(next.cursor)));
  async function more(cursor) {
    const page = await api.history(cursor);
    list.append(...page.changes.map(item));
    next.cursor = page.cursor;
    if (page.cursor === null) next.remove();
  }
  await more();
  const shown = list.children.length ? list : hint("Nothing has changed.");
  put(view, h("h2", {}, "Changes"), shown, next.cursor === null ? "" : next);
}
