// Contradictions with the question to answer, a button for each answer.

import * as api from "./api.js";
import { button, h, hint, put, quote, when } from "./dom.js";
import { act, changed } from "./memory.js";

function side(name, memory) {
  return h(
    "div",
    { class: "side" },
    h("p", { class: "named" }, name),
    quote(memory ? memory.content : "This memory is gone.", {}),
    memory && h("p", { class: "facts" }, when(memory.timestamp ?? memory.created_at), memory.speaker && h("bdi", {}, memory.speaker)),
  );
}

async function item(one, again) {
  const [first, second] = await api.readAll([one.first, one.second]);
  const answer = (text, choice) => {
    const chosen = one.status === "resolved" && (one.outcome === "contested" ? choice === "both" : choice !== "both" && choice !== "supersede" && choice !== one.loser);
    const give = async () => {
      await api.resolve(one.id, choice);
      await again();
      changed("Answered.", again);
    };
    return button(text, act(give), { "aria-pressed": chosen ? "true" : "false" });
  };
  return h(
    "article",
    { class: "memory", "aria-label": one.question || one.reason },
    h("h3", { dir: "auto" }, one.question || one.reason),
    hint(h("span", { class: "tag" }, one.status), ` ${one.reason}`),
    h("div", { class: "sides" }, side("First", first), side("Second", second)),
    h("p", { class: "acts" }, answer("The first is right", one.first), answer("The second is right", one.second), answer("Both are right", "both"), answer("It changed: the later one holds now", "supersede")),
    one.because && h("p", { dir: "auto" }, `Because: ${one.because}`),
  );
}

export async function show(view) {
  const again = () => show(view);
  const found = await api.conflicts("all");
  const listed = async (status) => Promise.all(found.filter((one) => one.status === status).map((one) => item(one, again)));
  const [open, resolved] = [await listed("open"), await listed("resolved")];
  put(
    view,
    h("h2", {}, "Open questions"),
    open.length ? h("div", { class: "list" }, open) : hint("Nothing contradicts."),
    resolved.length > 0 && h("details", { open: open.length === 0 }, h("summary", {}, `Answered (${resolved.length})`), h("div", { class: "list" }, resolved)),
  );
}
