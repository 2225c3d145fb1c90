// The views by their address: #people, #search/QUESTION, #prompt/QUESTION, #map/ID, #questions, #facts/SUBJECT, #energy, #history.

import * as api from "./api.js";
import { put, tell } from "./dom.js";
import { act, takenBack } from "./memory.js";

const VIEWS = ["people", "search", "prompt", "map", "questions", "facts", "energy", "history"];
const view = document.getElementById("view");
const name = document.getElementById("user");

/** Return the view that opens: the people, if there are some and none is chosen. */
async function first() {
  return api.user() === "" && (await api.people()).length ? "people" : "search";
}

const show = act(async () => {
  const [, asked, rest] = /^#?(\w*)(?:\/(.*))?$/s.exec(location.hash) ?? [];
  const chosen = VIEWS.includes(asked) ? asked : await first();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  tell("");
  put(view);
  const module = await import(`./${chosen}.js`);
  // Each view has an element of its own, so an answer that comes late never replaces a later view.
  const room = document.createElement("section");
  room.className = "view";
  room.setAttribute("aria-label", chosen);
  put(view, room);
  await module.show(room, decodeURIComponent(rest ?? ""));
});

document.getElementById("owner").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setUser(name.value.trim());
  show();
});
document.getElementById("undo").addEventListener("click", act(async () => {
  const answer = await api.undo();
  await show();
  tell(takenBack(answer));
}));
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  view.focus();
});
window.addEventListener("hashchange", show);
name.value = api.user();
show();
