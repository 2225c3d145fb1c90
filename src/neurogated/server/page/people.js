// Whose memories there are: each user with a count and the newest activity, and the memories without an owner.

import * as api from "./api.js";
import { button, h, put, when } from "./dom.js";

function choose(name) {
  api.setUser(name);
  document.getElementById("user").value = name;
  location.hash = "#search";
}

export async function show(view) {
  const people = await api.people();
  const row = (name, text, facts) => h("li", { class: "panel person" }, button(text, () => choose(name), { class: "link", dir: "auto" }), h("span", { class: "facts" }, facts));
  put(
    view,
    h("h2", {}, `People (${people.length})`),
    h("ul", { class: "plain" }, people.map((one) => row(one.user_id, one.user_id, [`${one.memories} memories, the last added `, when(one.latest)])), row("", "Memories without an owner", "Every user reads them.")),
  );
}
