"use strict";
(() => {
  const canvas = document.getElementById("canvas");
  const chosen = document.getElementById("chosen");
  const idle = [...chosen.childNodes];
  const items = new Map([...document.querySelectorAll("[data-item]")].map((item) => [item.dataset.item, item]));
  const boxes = new Map([...canvas.querySelectorAll("[data-node]")].map((box) => [box.dataset.node, box]));
  const arcs = new Map([...canvas.querySelectorAll("[data-arc]")].map((arc) => [arc.dataset.arc, arc]));
  const buttons = [...document.querySelectorAll("button[data-node]")];
  const beside = window.matchMedia("(min-width: 75rem)");
  let pinned = null;
  let shown = null;

  const words = (text) => (text ? text.split(" ") : []);

  function tell(number) {
    if (number === null) {
      chosen.replaceChildren(...idle);
      return;
    }
    const item = items.get(number);
    const path = item.querySelector(".path").cloneNode(true);
    // A copy is read, not used: its buttons would be second ones of the same name.
    for (const link of path.querySelectorAll("button")) {
      const name = document.createElement("span");
      name.append(...link.childNodes);
      link.replaceWith(name);
    }
    const here = document.createElement("a");
    here.href = "#" + item.id;
    here.textContent = "Read it";
    path.prepend(item.querySelector(".pick .rank").cloneNode(true), " ");
    path.append(" · ", here);
    chosen.replaceChildren(path);
  }

  function show(number) {
    if (number === shown) return;
    shown = number;
    for (const part of document.querySelectorAll(".lit, .chosen-one")) part.classList.remove("lit", "chosen-one");
    canvas.classList.toggle("tracing", number !== null);
    if (number !== null) {
      const { nodes, arcs: over } = items.get(number).dataset;
      for (const node of words(nodes)) boxes.get(node).classList.add("lit");
      for (const arc of words(over)) arcs.get(arc).classList.add("lit");
      boxes.get(number).classList.add("chosen-one");
      items.get(number).classList.add("chosen-one");
    }
    tell(number);
  }

  function within(box, frame) {
    const inner = box.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    const room = 40;
    if (inner.top < outer.top + room) frame.scrollTop += inner.top - outer.top - room;
    if (inner.bottom > outer.bottom - room) frame.scrollTop += inner.bottom - outer.bottom + room;
    if (inner.left < outer.left) frame.scrollLeft += inner.left - outer.left - room;
    if (inner.right > outer.right) frame.scrollLeft += inner.right - outer.right + room;
  }

  function pin(number, from) {
    pinned = number === pinned ? null : number;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.node === pinned));
    show(pinned);
    if (pinned === null) return;
    if (canvas.contains(from)) {
      // Where the list lies below the picture, jumping there would take the picture from the eye.
      if (beside.matches) items.get(pinned).scrollIntoView({ block: "nearest" });
    } else {
      // The memory itself comes last: where not all of its way fits, it is what must be seen.
      for (const node of [...words(items.get(pinned).dataset.nodes), pinned]) within(boxes.get(node), canvas.parentElement);
    }
  }

  const numberAt = (target) => {
    const button = target.closest("button[data-node]");
    return button ? button.dataset.node : (target.closest("[data-item]")?.dataset.item ?? null);
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest("details, a")) return;
    // Who marks words to copy them does not choose the memory they stand in.
    if (!event.target.closest("button") && String(window.getSelection()).length) return;
    const number = numberAt(event.target);
    if (number !== null) pin(number, event.target);
    else if (canvas.contains(event.target) && pinned !== null) pin(pinned, event.target);
  });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") show(numberAt(event.target) ?? pinned);
  });
  document.documentElement.addEventListener("pointerleave", () => show(pinned));
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) show(numberAt(event.target) ?? pinned);
  });
  document.addEventListener("focusout", () => show(pinned));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (pinned !== null) pin(pinned, document.body);
    show(null);
  });
})();
