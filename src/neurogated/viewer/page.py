"""A recall as one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import jinja2

from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryNode
from neurogated.core.trace import PathStep, Recall, RecalledMemory
from neurogated.viewer.layout import lay_out
from neurogated.viewer.palette import ink
from neurogated.viewer.subgraph import Subgraph, Trail, Vertex, subgraph_of

__all__ = ["render_recall"]

# Characters: of a label, before the reader asks for more, and at most.
_LABEL = 120
_SHOWN = 700
_MOST = 200_000
_PERCENT = 100.0
_FORMAT = "{:.3f}"

# What HTML does not allow even escaped, and halves of characters that UTF-8 cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_SEEN_FIRST = ("title", "speaker", "timestamp", "location")


class _Part(NamedTuple):
    name: str
    value: float
    share: float
    """Percent of the largest of that name in the recall."""


class _Text(NamedTuple):
    beginning: str
    rest: str
    characters: int
    cut: int
    """How many characters were left out altogether."""


class _Step(NamedTuple):
    step: PathStep
    source: _Card
    target: _Card


class _Card(NamedTuple):
    """What is known of a vertex, ready to be shown."""

    vertex: Vertex
    trail: Trail
    label: str
    snippet: str
    text: _Text | None
    facts: tuple[tuple[str, str], ...]
    """Metadata to be seen at once."""
    metadata: tuple[tuple[str, str], ...]
    share: float
    """Energy in percent of the largest there is."""
    memory: RecalledMemory | None


class _Weight(NamedTuple):
    type: EdgeType
    along: float
    against: float | None
    """None where energy never goes that way."""


def render_recall(recall: Recall, nodes: Mapping[str, MemoryNode]) -> str:
    """Return a recall as an HTML page: its kernel, the part of the graph it went through, and the ranked memories.

    Args:
        recall: what a question brought up.
        nodes: the nodes on its paths, and its anchors, that are not among its memories; what is missing is shown by id.
    """
    subgraph = subgraph_of(recall)
    known = {**nodes, **{memory.id: memory.node for memory in recall}}
    cards = _cards(recall, subgraph, known)
    by_id = {card.vertex.id: card for card in cards}
    script, style = _own_file("page.js"), _own_file("page.css")
    used = {arc.type for arc in subgraph.arcs}
    return _environment().get_template("page.html.j2").render(
        recall=recall,
        kernel=_kernel_rows(recall, used),
        picture=lay_out(subgraph),
        cards=cards,
        memories=[card for card in cards if card.memory],
        passed=[card for card in cards if not card.memory],
        parts={card.vertex.number: _parts(card, recall) for card in cards},
        paths={card.vertex.number: _path(card, by_id) for card in cards},
        used=sorted(used, key=lambda kind: kind.name),
        inks={kind: ink(kind) for kind in {*EdgeType, *used, *recall.kernel.weights, *recall.kernel.against}},
        script=script,
        style=style,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        seconds=math.fsum(recall.seconds.values()),
    )  # fmt: skip


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("neurogated.viewer"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: _printable(value) if isinstance(value, str) else value,
    )
    environment.filters |= {"number": _number}
    return environment


@functools.cache
def _own_file(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None  # noqa: S101 - given above
    return environment.loader.get_source(environment, name)[0]


def _printable(text: str) -> str:
    if hasattr(text, "__html__"):
        return text
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _number(value: float) -> str:
    return _FORMAT.format(value).replace("-", "\N{MINUS SIGN}")


def _share(value: float | None, largest: float) -> float:
    """Return `value` in percent of `largest`, 0 where that has no meaning."""
    if value is None or not math.isfinite(value) or not 0 < largest < math.inf:
        return 0.0
    return max(0.0, min(_PERCENT, _PERCENT * value / largest))


def _cards(recall: Recall, subgraph: Subgraph, known: Mapping[str, MemoryNode]) -> list[_Card]:
    memories = {memory.id: memory for memory in reversed(recall.memories)}
    largest = max((vertex.energy or 0.0 for vertex in subgraph.vertices), default=0.0)
    return [
        _card(vertex, trail, known.get(vertex.id), memories.get(vertex.id), _share(vertex.energy, largest))
        for vertex, trail in zip(subgraph.vertices, subgraph.trails, strict=True)
    ]


def _card(vertex: Vertex, trail: Trail, node: MemoryNode | None, memory: RecalledMemory | None, share: float) -> _Card:
    if node is None:
        return _Card(vertex, trail, _shortened(vertex.id), "no longer in the memory", None, (), (), share, memory)
    fields = {
        "title": node.title,
        "speaker": node.speaker,
        "timestamp": node.timestamp and f"{node.timestamp:%Y-%m-%d %H:%M}",
    }
    values = {
        str(name): _shown_value(value)
        for name, value in {**node.found.to_json(), **node.metadata, **fields}.items()
        if value not in (None, "", [])
    }
    if node.valid_from:
        values["valid from"] = f"{node.valid_from:%Y-%m-%d}"
    if node.valid_to:
        values["valid to"] = f"{node.valid_to:%Y-%m-%d}"
    names = {name.lower(): name for name in values}
    first = [names[name] for name in _SEEN_FIRST if name in names]
    label = next((values[name] for name in first if name.lower() in {"title", "speaker"}), "")
    snippet = _shortened(node.content)
    return _Card(
        vertex,
        trail,
        _shortened(label) or snippet,
        snippet if label else "",
        _text(node.content),
        tuple((name.lower(), _shortened(values[name])) for name in first if name.lower() != "title"),
        (("id", node.id), *values.items()),
        share,
        memory,
    )


def _shortened(text: str) -> str:
    words = " ".join(text[: 2 * _LABEL].split())
    return words if len(words) <= _LABEL and len(text) <= 2 * _LABEL else words[:_LABEL].rstrip() + " …"


def _shown_value(value: Any) -> str:  # noqa: ANN401 - JSON
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST else text[:_MOST] + " …"


def _text(content: str) -> _Text:
    if len(content) <= _SHOWN:
        return _Text(content, "", len(content), 0)
    # A word is not torn where there is a space to break at.
    space = content.rfind(" ", _SHOWN - _LABEL, _SHOWN)
    end = space if space > 0 else _SHOWN
    return _Text(content[:end], content[end:_MOST], len(content), max(0, len(content) - _MOST))


def _parts(card: _Card, recall: Recall) -> list[_Part]:
    if card.memory is None:
        return []
    largest = {
        name: max((abs(m.parts[name]) for m in recall if math.isfinite(m.parts.get(name, math.nan))), default=0.0)
        for name in card.memory.parts
    }
    return [_Part(name, value, _share(value, largest[name])) for name, value in card.memory.parts.items()]


def _path(card: _Card, by_id: Mapping[str, _Card]) -> list[_Step]:
    if card.memory is None:
        return []
    return [_Step(step, by_id[step.source_id], by_id[step.target_id]) for step in card.memory.path]


def _kernel_rows(recall: Recall, used: set[EdgeType]) -> list[_Weight]:
    kernel: Kernel = recall.kernel
    kinds = [*EdgeType, *kernel.weights, *kernel.against, *used]
    walks_back = recall.activation != "classic"
    return [
        _Weight(kind, kernel[kind], kernel.backwards(kind) if walks_back and kind.both_ways else None)
        for kind in dict.fromkeys(kinds)
    ]
