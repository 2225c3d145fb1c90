"use strict";
(() => {
  const canvas = document.getElementById("canvas");
  const chosen = document.getElementById("chosen");
  const idle = [...chosen.childNodes];
  const beside = window.matchMedia("(min-width: 75rem)");
  // A thing is a box or a flow of the picture. A part of the list names its thing in data-of.
  let pinned = null;
  let shown = null;

  const thingAt = (target) => {
    const part = target.closest("[data-lit], [data-of]");
    return part && (part.dataset.lit ? part : document.getElementById(part.dataset.of));
  };
  const itemOf = (thing) => document.getElementById("n" + thing.dataset.node);
  const litBy = (thing) => thing.dataset.lit.split(" ").map((id) => document.getElementById(id)).filter(Boolean);

  function tell(thing) {
    if (!thing) {
      chosen.replaceChildren(...idle);
      return;
    }
    const words = document.createElement("p");
    const here = document.createElement("a");
    here.href = "#" + itemOf(thing).id;
    here.textContent = "Read it";
    words.append(thing.dataset.description, " · ", here);
    chosen.replaceChildren(words);
  }

  function show(thing) {
    if (thing === shown) return;
    shown = thing;
    for (const part of document.querySelectorAll(".lit, .chosen-one")) part.classList.remove("lit", "chosen-one");
    canvas.classList.toggle("tracing", Boolean(thing));
    if (thing) {
      for (const part of litBy(thing)) part.classList.add("lit");
      thing.classList.add("chosen-one");
      itemOf(thing).classList.add("chosen-one");
      for (const row of document.querySelectorAll(`.flow[data-of="${thing.id}"]`)) row.classList.add("lit");
    }
    tell(thing);
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

  function pin(thing, from) {
    pinned = thing === pinned ? null : thing;
    for (const button of document.querySelectorAll("[aria-pressed]"))
      button.setAttribute("aria-pressed", String(Boolean(pinned) && thingAt(button) === pinned));
    show(pinned);
    if (!pinned) return;
    if (canvas.contains(from)) {
      // If the list is below the picture, a jump to the list would scroll the picture out of view.
      if (beside.matches) itemOf(pinned).scrollIntoView({ block: "nearest" });
    } else {
      // If not all highlighted boxes fit, the chosen one must be visible, so it is the last.
      for (const part of [...litBy(pinned).filter((one) => one.matches(".box")), pinned]) within(part, canvas.parentElement);
    }
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-go]");
    if (link) {
      const item = document.getElementById("n" + link.dataset.go);
      item.scrollIntoView({ block: "nearest" });
      const thing = thingAt(item);
      if (thing && thing !== pinned) pin(thing, link);
      return;
    }
    if (event.target.closest("details, a")) return;
    // Selecting text of a memory does not choose the memory.
    if (!event.target.closest("button") && String(window.getSelection()).length) return;
    const thing = thingAt(event.target);
    if (thing) pin(thing, event.target);
    else if (canvas.contains(event.target) && pinned) pin(pinned, event.target);
  });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") show(thingAt(event.target) ?? pinned);
  });
  document.documentElement.addEventListener("pointerleave", () => show(pinned));
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(":focus-visible")) show(thingAt(event.target) ?? pinned);
  });
  document.addEventListener("focusout", () => show(pinned));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (pinned) pin(pinned, document.body);
    show(null);
  });
})();
