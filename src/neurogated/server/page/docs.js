// The routes of REST as the OpenAPI document describes them.

import { h, put } from "./dom.js";

const answer = await fetch("openapi.json");
const told = await answer.json();
const named = (shape) => (shape?.$ref ? told.components.schemas[shape.$ref.split("/").at(-1)] : (shape?.anyOf?.find((one) => one.$ref) ? named(shape.anyOf.find((one) => one.$ref)) : shape));

function route(method, path, one) {
  const body = named(one.requestBody?.content?.["application/json"]?.schema);
  const fields = [
    ...(one.parameters ?? []).filter((field) => !field.deprecated).map((field) => [field.name, field.in, field.required, field.description ?? field.schema?.description]),
    ...Object.entries(body?.properties ?? {}).map(([name, field]) => [name, "body", body.required?.includes(name), field.description]),
  ];
  return h(
    "section",
    { class: "panel list", "aria-label": `${method} ${path}` },
    h("h2", {}, `${method} ${path}`),
    h("p", {}, one.description ?? one.summary),
    fields.length > 0 && h("ul", { class: "flows" }, fields.map(([name, place, required, text]) => h("li", {}, h("strong", {}, name), ` (${place}${required ? ", required" : ""})`, text && `: ${text}`))),
  );
}

put(
  document.getElementById("routes"),
  Object.entries(told.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => route(method.toUpperCase(), path, one))),
);
