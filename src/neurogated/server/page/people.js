// Whose memories there are: each user with a count and the newest activity, and the memories without an owner.

import * as api from "./api.js";
import { button, h, put, tell, when } from "./dom.js";
import { act } from "./memory.js";

function choose(name) {
  api.setUser(name);
  document.getElementById("user").value = name;
  location.hash = "#search";
}

export async function show(view) {
  const people = await api.people();
  const erase = (name) => act(async () => {
    if (!confirm(`Delete all memories of ${name}?`)) return;
    const { count } = await api.erase(name);
    await show(view);
    tell(`${count} memories of ${name} are deleted. Their history stays until the memory is compacted.`);
  });
  const row = (name, text, facts) => h("li", { class: "panel person" }, button(text, () => choose(name), { class: "link", dir: "auto" }), h("span", { class: "facts" }, facts), name && button("Delete all", erase(name), { "aria-label": `Delete all memories of ${name}` }));
  put(
    view,
    h("h2", {}, `People (${people.length})`),
    h("ul", { class: "plain" }, people.map((one) => row(one.user_id, one.user_id, [`${one.memories} memories, the last added `, when(one.latest)])), row("", "Memories without an owner", "Every user reads them.")),
  );
}
