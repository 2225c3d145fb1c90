// The texts of memories, with their times, tags and metadata, as a file with one JSON object a line: export, and import with a ledger of what became of each line.

import * as api from "./api.js";
import { beginning, h, hint, labelled, put, tell } from "./dom.js";
import { act } from "./memory.js";

const KEPT = ["content", "title", "timestamp", "valid_from", "valid_to", "tags", "metadata", "importance", "expires_at"];
const kept = (one, names) => Object.fromEntries(names.map((name) => [name, one[name]]).filter(([, value]) => value != null && value !== ""));

/** Give the reader a file of some memories. */
export function save(memories) {
  const lines = memories.map((one) => JSON.stringify({ ...kept(one, KEPT), ...kept(one.scope, ["session_id", "agent_id"]), ...kept(one, ["role", "speaker"]) }));
  const address = URL.createObjectURL(new Blob(lines.map((line) => `${line}\n`), { type: "application/jsonl" }));
  h("a", { href: address, download: `memories-${api.user() || "shared"}.jsonl` }).click();
  tell(`${memories.length} memories are in the file.`);
}

/** Return what a line of a file stands for: an exported memory, or a text. */
function read(line) {
  if (!line.startsWith("{")) return { content: line };
  const { role, speaker, ...one } = JSON.parse(line);
  if (role || speaker) one.content = { role: role ?? "user", content: one.content, ...(speaker && { name: speaker }) };
  return one;
}

/** Return a form that adds the lines of a file. */
export function importer(again) {
  const file = h("input", { type: "file", accept: ".jsonl,.txt", required: true });
  const ledger = h("div", { class: "list", role: "status" });
  const load = act(async () => {
    const lines = (await file.files[0].text()).split(/\r?\n/).map((line, place) => [place + 1, line.trim()]).filter(([, line]) => line);
    const [notes, counts] = [[], { added: 0, skipped: 0, refused: 0 }];
    for (const [place, line] of lines) {
      try {
        const told = await api.add(read(line));
        counts.added += told.ids.length;
        counts.skipped += told.skipped ?? 0;
        notes.push(...(told.notes ?? []).map((note) => `Line ${place}: ${note}`));
      } catch (error) {
        counts.refused += 1;
        notes.push(`Line ${place} is refused (${beginning(line, 40)}): ${error.message}`);
      }
      tell(`Line ${place} of ${lines.at(-1)[0]}`);
    }
    await again();
    tell(`${lines.length} lines are read: ${counts.added} memories are added, ${counts.skipped} skipped, ${counts.refused} refused.`);
    put(ledger, notes.length > 0 && h("ul", { class: "flows" }, notes.map((note) => h("li", { dir: "auto" }, note))));
  });
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "Import"),
    hint("A file that was exported here, or a text with one memory a line."),
    h("form", { class: "ask", onsubmit: load }, labelled("File", file), h("button", { class: "act" }, "Add its lines")),
    ledger,
  );
}
