// Requests. The key and the user stay in this tab.

const KEY = "neurogated-key";
const USER = "neurogated-user";
let asking = null;

export const user = () => sessionStorage.getItem(USER) ?? "";
export const setUser = (name) => sessionStorage.setItem(USER, name);

/** Ask for a key once, also if several requests wait for it. */
function askForKey() {
  asking ??= new Promise((done) => {
    const dialog = document.getElementById("ask");
    const field = document.getElementById("key");
    field.value = "";
    dialog.addEventListener(
      "close",
      () => {
        sessionStorage.setItem(KEY, field.value.trim());
        field.value = "";
        asking = null;
        done();
      },
      { once: true },
    );
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.showModal();
  });
  return asking;
}

/** Return the JSON of an answer; throws an Error with the server's message. */
async function ask(method, path, body, query = {}, owner = user()) {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value != null));
  if (owner) parameters.set("user_id", owner);
  const headers = {};
  const key = sessionStorage.getItem(KEY);
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(`v1/${path}?${parameters}`, { method, headers, body: JSON.stringify(body) });
  if (answer.status === 401) {
    await askForKey();
    return ask(method, path, body, query, owner);
  }
  const told = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error.message), { status: answer.status });
  return told;
}

const one = (id) => `memories/${encodeURIComponent(id)}`;

export const add = (body) => ask("POST", "memories", body);
export const erase = (name) => ask("DELETE", "memories", undefined, {}, name);
export const list = (cursor) => ask("GET", "memories", undefined, { cursor, limit: 500, newest: true });

/** The users, the newest activity first. */
export const people = async () => (await ask("GET", "users")).sort((one, other) => Date.parse(other.latest) - Date.parse(one.latest));

export const read = (id) => ask("GET", one(id));
export const change = (id, content) => ask("PATCH", one(id), { content });
export const forget = (id) => ask("DELETE", one(id));
export const recall = (query) => ask("POST", "recall", { query, explain: true });
export const context = (query, token_budget) => ask("POST", "context", { query, token_budget, explain: true });
export const feedback = (id, outcome) => ask("POST", "feedback", { ids: [id], outcome });
export const conflicts = (status) => ask("GET", "conflicts", undefined, { status });
export const resolve = (id, keep) => ask("POST", `conflicts/${encodeURIComponent(id)}/resolve`, { keep });
export const history = (cursor) => ask("GET", "history", undefined, { cursor });

/** All facts of a subject, or of all. */
export async function facts(subject) {
  const found = [];
  for (let cursor = 0; cursor !== null; ) {
    const page = await ask("GET", "facts", undefined, { subject: subject || null, limit: 1000, cursor });
    found.push(...page.facts);
    ({ cursor } = page);
  }
  return found;
}

export const undo = (to) => ask("POST", "undo", to === undefined ? {} : { to });
export const map = () => ask("GET", "map");
export const neighbourhood = (id) => ask("GET", `map/${encodeURIComponent(id)}`);
export const energy = (days) => ask("GET", "energy", undefined, { days });

/** Read several memories; one that is gone is null. */
export const readAll = (ids) => Promise.all(ids.map((id) => read(id).catch(() => null)));
