"""Renders a recall of a memory as one self-contained HTML page, or as text for a terminal."""

import base64
import contextlib
import functools
import hashlib
import json
import math
import os
import re
import textwrap
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from neurogated.core.clock import day_in, local
from neurogated.core.conflicts import Conflict
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import render
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.errors import InputError
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.similarity import PARTS
from neurogated.text import strings
from neurogated.text.times import Zone
from neurogated.viewer.layout import Arc, Vertex, lay_out, subgraph_of

_WIDTH = 90
_INDENT = "   "


def dated(node: MemoryNode, zone: Zone) -> str:
    """Return the text of a memory, after its timestamp in a zone and its role, as far as it has them."""
    day = f"{local(node.timestamp, zone or node.found.zone):%Y-%m-%d %H:%M}" if node.timestamp else None
    return "  ".join(filter(None, (day, node.role, render(node))))


def recall_text(store: GraphStorePort, recall: Recall, only: RecalledMemory | None = None) -> str:
    """Return memories, or only one, with the terms of their scores and the paths; `store` is the graph asked."""
    trusted = f"confidence: {recall.confidence:.2f}; trust in the graph: {recall.trust:.2f}"
    weights = ", ".join(
        f"{kind.name} {weight:.2f}" + (f"/{recall.kernel.against[kind]:.2f}" if kind in recall.kernel.against else "")
        for kind, weight in recall.kernel.weights.items()
    )
    lines = [recall.query, f"kernel: {weights or 'uniform'}\n{_INDENT}because: {recall.kernel.justification}", trusted]
    lines += [f"note: {note}" for note in recall.notes]
    for rank, recalled in enumerate(recall, start=1):
        if only is not None and only is not recalled:
            continue
        # Terms of 0 are left out.
        terms = [(name.replace("_", " "), value) for name, value in recalled.contributions.items() if value]
        signed = " ".join(f"{'-' if value < 0 else '+'} {name} {abs(value):.3f}" for name, value in terms)
        total = f" = {signed.removeprefix('+ ')}" if terms else ""
        lines += ["", f"{rank}. score {recalled.score:.3f}{total}  id {recalled.id}"]
        parts = (f"{name} {value:.3f}" for name, value in recalled.parts.items() if value and name in PARTS)
        lines.append(f"{_INDENT}similarity {recalled.parts['similarity']:.3f} from {', '.join(parts) or 'nothing'}")
        lines += textwrap.indent(dated(recalled.node, recall.zone), _INDENT).splitlines()
        if recalled.id in recall.states:
            lines.append(f"{_INDENT}in a conflict: {recall.states[recalled.id]}")
        if recalled.same_as:
            lines.append(f"{_INDENT}the same as: {', '.join(recalled.same_as)}")
        for step in recalled.path:
            # A memory that was removed since the recall is shown by its id.
            source = next(iter(store.get_nodes([step.source_id], missing_ok=True)), None)
            text = step.source_id if source is None else render(source)
            lines.append(f"{_INDENT}activation {step.flow:.3f} over {step.type.name} from: {beginning(text)}")
    lines += [f"\n{line}" for line in questions(recall.conflicts)]
    return "\n".join(lines)


def questions(conflicts: Iterable[Conflict]) -> list[str]:
    """Return the questions about conflicts, with their ids."""
    return [f"{conflict.id}: {conflict.question}" for conflict in conflicts]


def beginning(text: str) -> str:
    """Return a text on one line, shortened to the width of a terminal."""
    return strings.beginning(text, _WIDTH)


class Ink(NamedTuple):
    """Colours and dashes of the lines of an edge type."""

    light: str
    """#rrggbb on a light background."""
    dark: str
    """#rrggbb on a dark background."""
    dashes: str = "none"
    """Value of `stroke-dasharray`."""


# Based on Okabe & Ito (2008), but changed so that each has a contrast of 3:1 with its background. Any two have a
# distance of 20 in Lab, also for people without red or green cones.
_KNOWN = {
    "SEQ": Ink("#1f5fbf", "#5b9cff"),
    "SIM": Ink("#b98600", "#f0e442"),
    "CAUSE": Ink("#a82a05", "#f2662b"),
    "ASSOC": Ink("#b3589a", "#e9b6dd"),
    "MENTION": Ink("#00734f", "#17a27a"),
}
_OTHER = (("#2b8cc4", "#7cc8f5"), ("#555b66", "#c3c9d4"), ("#7b4fa3", "#b794e0"))
_DASHES = ("10 3", "3 4", "12 3 3 3")


def ink(edge_type: EdgeType) -> Ink:
    """Return the ink of a type. It depends on the name alone, so it is the same in every page and process."""
    if edge_type.name in _KNOWN:
        return _KNOWN[edge_type.name]
    number = int.from_bytes(hashlib.sha256(edge_type.name.encode()).digest())
    dashes, colours = divmod(number, len(_OTHER))
    return Ink(*_OTHER[colours], _DASHES[dashes % len(_DASHES)])


# Characters of a label, of a text before the reader unfolds it, and of a text at most.
_LABEL = 120
_SHOWN = 700
_MOST = 200_000
# Flows of a memory before the reader unfolds the list.
_LISTED = 5
_PERCENT = 100.0
_FORMAT = "{:.3f}"

# Characters that HTML forbids even when they are escaped, and surrogates, which UTF-8 cannot encode.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_SEEN_FIRST = ("title", "speaker", "timestamp", "location")


class _Term(NamedTuple):
    """One term of a score."""

    name: str
    value: float
    left: float
    """Left end of its segment of the bar, in percent of the widest bar."""
    width: float


class _Card(NamedTuple):
    """A vertex as the page shows it."""

    vertex: Vertex
    label: str
    snippet: str
    text: Mapping[str, Any] | None
    """Its `beginning` and its `rest`, the number of its `characters`, and of those that the page leaves out, `cut`."""
    facts: tuple[tuple[str, str], ...]
    """Metadata that the page always shows; it shows the rest on demand."""
    metadata: tuple[tuple[str, str], ...]
    memory: RecalledMemory | None
    terms: tuple[_Term, ...]
    into: tuple[Arc, ...]
    """Flows into it, strongest first."""
    sent: float
    """Sum of the flows from it, in points of the score."""
    boxes: tuple[str, ...]
    """Ids of its boxes in the picture."""
    lit: str
    """Ids of the boxes and flows that the page highlights with it."""


def render_recall(recall: Recall, nodes: Mapping[str, MemoryNode]) -> str:
    """Return a recall as an HTML page: its kernel, the flows of activation, and the ranked memories.

    `nodes` are anchors, sources of flows and nodes on paths that are no memories of the recall, by id. The page shows
    the id of a node that is missing there.
    """
    subgraph = subgraph_of(recall)
    known = {**nodes, **{memory.id: memory.node for memory in recall}}
    memories = {memory.id: memory for memory in recall.memories}
    widest = max((sum(value for _, value in terms if 0 < value < math.inf) for terms in subgraph.terms), default=0.0)
    senders = {vertex.number for vertex in subgraph.senders}
    cards = [
        _card(
            vertex,
            known.get(vertex.id),
            memories.get(vertex.id),
            _bar(subgraph.terms[vertex.number], widest) if vertex.rank else (),
            subgraph.arcs,
            sends=vertex.number in senders,
            zone=recall.zone,
        )
        for vertex in subgraph.vertices
    ]
    script, style = own_file("page.js"), own_file("page.css")
    kernel: Kernel = recall.kernel
    used = {arc.type for arc in subgraph.arcs}
    kinds = dict.fromkeys([*EdgeType, *kernel.weights, *kernel.against, *used])
    walks_back = recall.activation != "classic"
    return environment().get_template("page.html.j2").render(
        recall=recall,
        kernel=[
            # Activation never flows against the direction of some types.
            {
                "type": kind,
                "along": kernel[kind],
                "against": kernel.backwards(kind) if walks_back and kind.both_ways else None,
            }
            for kind in kinds
        ],
        picture=lay_out(subgraph),
        cards=cards,
        by_id={card.vertex.id: card for card in cards},
        memories=[card for card in cards if card.memory],
        passed=[card for card in cards if not card.memory],
        flows=sum(not arc.relayed for arc in subgraph.arcs),
        listed=_LISTED,
        terms_used={term.name for card in cards for term in card.terms if term.value},
        used=sorted(used, key=lambda kind: kind.name),
        inks={kind: ink(kind) for kind in kinds},
        script=script,
        style=style,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        seconds=math.fsum(recall.seconds.values()),
    )  # fmt: skip


@functools.cache
def environment() -> jinja2.Environment:
    """Return the templates and their filters."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("neurogated.viewer"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: _printable(value) if isinstance(value, str) else value,
    )
    made.filters |= {"number": lambda value: _FORMAT.format(value).replace("-", "\N{MINUS SIGN}")}
    return made


@functools.cache
def own_file(name: str) -> str:
    """Return a file of the templates."""
    templates = environment()
    assert templates.loader is not None  # noqa: S101 - given above
    return templates.loader.get_source(templates, name)[0]


def _printable(text: str) -> str:
    return text if hasattr(text, "__html__") else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _bar(terms: Sequence[tuple[str, float]], widest: float) -> tuple[_Term, ...]:
    """Return the terms side by side; a negative term covers the end of the previous ones."""
    bar, right = [], 0.0
    for name, value in terms:
        # A term may be infinite or no number.
        width = min(_PERCENT, _PERCENT * abs(value) / widest) if math.isfinite(value) and 0 < widest < math.inf else 0.0
        left = right if value >= 0 else max(0.0, right - width)
        right = min(_PERCENT, right + width) if value >= 0 else left
        bar.append(_Term(name.replace("_", " "), value, left, min(width, _PERCENT - left)))
    return tuple(bar)


def _card(
    vertex: Vertex,
    node: MemoryNode | None,
    memory: RecalledMemory | None,
    terms: tuple[_Term, ...],
    arcs: Sequence[Arc],
    *,
    sends: bool,
    zone: Zone,
) -> _Card:
    number = vertex.number
    into = tuple(arc for arc in arcs if arc.target == number)
    out = [arc for arc in arcs if arc.source == number]
    boxes = (*((f"to{number}",) if vertex.rank else ()), *((f"from{number}",) if sends else ()))
    # A memory is highlighted with the flows into it and the flows into their sources; other nodes with all their flows.
    relays = {arc.source for arc in into}
    shown = [*into, *(arc for arc in arcs if arc.relayed and arc.target in relays)] if vertex.rank else [*into, *out]
    lit = dict.fromkeys(boxes)
    for arc in shown:
        end = f"{'from' if arc.relayed else 'to'}{arc.target}"
        lit |= dict.fromkeys((f"arc{arc.number}", f"from{arc.source}", end))
    drawn = (terms, into, sum(arc.shown for arc in out), boxes, " ".join(lit))
    if node is None:
        return _Card(vertex, _shortened(vertex.id), "no longer in the memory", None, (), (), memory, *drawn)
    fields = {
        "title": node.title,
        "speaker": node.speaker,
        "timestamp": node.timestamp and f"{local(node.timestamp, zone or node.found.zone):%Y-%m-%d %H:%M}",
    }
    values = {
        str(name): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in {**node.found.to_json(), **node.metadata, **fields}.items()
        if value not in (None, "", [])
    }
    held = {"valid from": node.valid_from, "valid to": node.valid_to}
    values |= {name: f"{day_in(time, zone)}" for name, time in held.items() if time}
    names = {name.lower(): name for name in values}
    first = [names[name] for name in _SEEN_FIRST if name in names]
    label = next((values[name] for name in first if name.lower() in {"title", "speaker"}), "")
    snippet = _shortened(node.content)
    return _Card(
        vertex,
        _shortened(label) or snippet,
        snippet if label else "",
        _text(node.content),
        tuple((name.lower(), _shortened(values[name])) for name in first if name.lower() != "title"),
        (
            ("id", node.id),
            *((name, one if len(one) <= _MOST else f"{one[:_MOST]} …") for name, one in values.items()),
        ),
        memory,
        *drawn,
    )


def _shortened(text: str) -> str:
    words = " ".join(text[: 2 * _LABEL].split())
    return words if len(words) <= _LABEL and len(text) <= 2 * _LABEL else words[:_LABEL].rstrip() + " …"


def _text(content: str) -> dict[str, Any]:
    # The text breaks at a space if there is one, so that no word is split.
    space = content.rfind(" ", _SHOWN - _LABEL, _SHOWN) if len(content) > _SHOWN else -1
    end = space if space > 0 else _SHOWN
    lengths = {"characters": len(content), "cut": max(0, len(content) - _MOST)}
    return {"beginning": content[:end], "rest": content[end:_MOST], **lengths}


def explain(memory: NeuroGraphMemory, recall: Recall, store: GraphStorePort | None = None) -> str:
    """Return the page of a recall of a memory, with the texts of all nodes that sent activation.

    `store` is the graph of the recall, if it used `as_of`.
    """
    store = memory.store if store is None else store
    passed = [vertex.id for vertex in subgraph_of(recall).vertices if vertex.rank is None]
    # The page shows the id of a node that was deleted since the recall.
    return render_recall(recall, {node.id: node for node in store.get_nodes(passed, missing_ok=True)})


def write_page(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file atomically, and return its absolute path; an existing file is replaced.

    Raises InputError if the file cannot be written.
    """
    remedy = "choose another file for the page"
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise InputError(f"{path} is not a file; {remedy}")
        # A unique name lets two threads write at once. The same folder keeps the renaming within one file system.
        part = target.with_name(f".{uuid.uuid4().hex}.part")
        try:
            part.write_text(page, encoding="utf-8", newline="\n")
            part.replace(target)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be written ({error}); {remedy}") from error
    return target
