"""Renders the conflicts of a memory, with the effect of each answer, as one self-contained HTML page."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.conflicts import Conflict, Validity
from neurogated.core.model import MemoryNode
from neurogated.core.scope import ANY_USER, ScopeFilter, UserChoice
from neurogated.errors import UnknownIdError
from neurogated.knowledge.effects import Effect, period
from neurogated.knowledge.origin import statements_in
from neurogated.memory import NeuroGraphMemory
from neurogated.text.strings import without_passwords
from neurogated.viewer.page import environment, own_file

# Characters of a text that is shown whole, around the sentence of a longer one, and at most.
_SHOWN, _AROUND, _MOST = 700, 200, 200_000
# The known times lie on this part of the axis of a chart, in percent; open ends reach its edges.
_LEFT, _WIDE, _WHOLE = 15.0, 70.0, 100.0
_NAMES = ("first", "second")
# The settings that the command needs to find the memory again. No other setting is on the page.
_FLAGS = ("storage", "namespace", "embedding_name")


class _Quoted(NamedTuple):
    """A text with the sentence that is in conflict."""

    before: str
    sentence: str
    after: str
    whole: str
    """The whole text if the others are an excerpt of it, else empty."""


class _Side(NamedTuple):
    """A memory of a conflict."""

    name: str
    id: str
    text: _Quoted
    facts: tuple[tuple[str, str], ...]
    state: str


class _Period(NamedTuple):
    """A valid time, and its place on the axis in percent."""

    words: str
    left: float
    width: float


class _Line(NamedTuple):
    """A memory before and after an answer."""

    name: str
    text: str
    before: _Period
    after: _Period
    state: str


class _Answer(NamedTuple):
    """An answer with its effect."""

    title: str
    meaning: str
    is_present: bool
    lines: tuple[_Line, ...]
    removed: tuple[str, ...]
    others: tuple[tuple[str, str], ...]
    """The ids of other conflicts about these memories, and their change in words, empty if they stay as they are."""
    command: tuple[str, ...]
    """The words of the command, quoted for a shell."""


class _Card(NamedTuple):
    """A conflict."""

    conflict: Conflict
    sides: tuple[_Side, ...]
    answers: tuple[_Answer, ...]


def explain_conflicts(memory: NeuroGraphMemory, *, user_id: UserChoice = None, limit: int | None = None) -> str:
    """Return a page with both sides of each conflict and the changes that each answer would make.

    Args:
        memory: the memory.
        user_id: the user whose conflicts the page shows, with those of memories without an owner; without one, only
            the latter.
        limit: show at most this many open conflicts, and this many resolved ones.
    """
    admits = ScopeFilter(user_id).admits
    cards: dict[str, list[_Card]] = {"open": [], "resolved": []}
    for status, shown in cards.items():
        for conflict in memory.conflicts.list(status, user_id=user_id, limit=limit):  # type: ignore[arg-type]
            # A conflict or a side of it that was removed meanwhile is left out.
            with contextlib.suppress(UnknownIdError):
                effects = memory.conflicts.effects(conflict.id)
                ids = dict.fromkeys(name for one in effects for name in (*one.times, *one.removed))
                nodes = {node.id: node for node in memory.store.get_nodes(list(ids))}
                # Memories of two users are never joined; this holds the page to it.
                if all(admits(node.scope) for node in nodes.values()):
                    shown.append(_card(conflict, effects, nodes, memory.config))
    all_shown = [card.conflict for card in (*cards["open"], *cards["resolved"])]
    return environment().get_template("conflicts.html.j2").render(
        cards=cards,
        anchors={conflict.id: f"c{number}" for number, conflict in enumerate(all_shown, 1)},
        questions={conflict.id: conflict.question for conflict in all_shown},
        owner=None if user_id is ANY_USER else user_id,
        is_any=user_id is ANY_USER,
        style=own_file("page.css") + own_file("conflicts.css"),
    )  # fmt: skip


def _card(
    conflict: Conflict, effects: Sequence[Effect], nodes: Mapping[str, MemoryNode], config: MemoryConfig
) -> _Card:
    sides = tuple(
        _Side(
            name,
            node_id,
            _quoted(nodes[node_id], place),
            _facts(nodes[node_id]),
            conflict.outcome if node_id == conflict.loser else "",
        )
        for name, node_id, place in zip(_NAMES, conflict.sides, conflict.sentences, strict=True)
    )
    held = [period for effect in effects for pair in effect.times.values() for period in pair]
    moments = [moment for times in held for moment in times if moment is not None]
    return _Card(conflict, sides, tuple(_answer(conflict, effect, nodes, moments, config) for effect in effects))


def _quoted(node: MemoryNode, place: int) -> _Quoted:
    content = node.content
    begin, end = _sentence(node, place)
    end = min(end, begin + _SHOWN)
    if len(content) <= _SHOWN:
        return _Quoted(content[:begin], content[begin:end], content[end:], "")
    # The excerpt begins and ends with a whole word where there is one.
    left, right = max(0, begin - _AROUND), min(len(content), end + _AROUND)
    left += content[left:begin].find(" ") + 1 if left else 0
    space = content.rfind(" ", end, right)
    right = space if right < len(content) and space > 0 else right
    before, after = content[left:begin], content[end:right]
    whole = content[:_MOST] + (" …" if len(content) > _MOST else "")
    return _Quoted(
        f"… {before}" if left else before, content[begin:end], f"{after} …" if right < len(content) else after, whole
    )


def _sentence(node: MemoryNode, place: int) -> tuple[int, int]:
    """Return where a sentence of a text begins and ends; twice 0 if it is not there as it was compared."""
    span = 0, 0
    for sentence in statements_in(node)[: place + 1]:
        # The sentences have single spaces.
        found = re.compile(r"\s+".join(map(re.escape, sentence.split()))).search(node.content, span[1])
        span = found.span() if found else (span[1], span[1])
    return span


def _facts(node: MemoryNode) -> tuple[tuple[str, str], ...]:
    values = {
        "speaker": node.speaker or node.role,
        "said": node.timestamp and f"{node.timestamp:%Y-%m-%d}",
        "stored": f"{node.created_at:%Y-%m-%d}",
        "title": node.title,
        "user": node.scope.user_id,
        "valid": period((node.valid_from, node.valid_to)),
    }
    return tuple((name, value) for name, value in values.items() if value)


def _answer(
    conflict: Conflict,
    effect: Effect,
    nodes: Mapping[str, MemoryNode],
    moments: Sequence[datetime],
    config: MemoryConfig,
) -> _Answer:
    sides = dict(zip(conflict.sides, _NAMES, strict=True))
    lines = []
    for node_id, (before, after) in effect.times.items():
        state = effect.outcome if node_id == effect.loser else ""
        lines.append(
            _Line(
                sides.get(node_id, ""), nodes[node_id].content, _placed(before, moments), _placed(after, moments), state
            )
        )
    title, meaning = _words(conflict, effect, sides)
    return _Answer(
        title,
        meaning,
        conflict.status == "resolved" and (conflict.outcome, conflict.loser) == (effect.outcome, effect.loser),
        tuple(lines),
        tuple(nodes[name].content for name in effect.removed),
        tuple(
            (name, change)
            for change, names in (("removed", effect.ended), ("open again", effect.opened), ("", effect.touched))
            for name in names
        ),
        _command(config, conflict, effect.keep),
    )


def _words(conflict: Conflict, effect: Effect, names: Mapping[str, str]) -> tuple[str, str]:
    """Return an answer and its meaning."""
    if effect.loser is None:
        return "Both are right", "Both memories stand."
    loser, winner = names[effect.loser], names[conflict.other(effect.loser)]
    if effect.outcome == "wrong":
        return f"Only the {winner} is right", f"The {loser} was never true."
    return "It changed", f"The {loser} was true until the {winner} began."


def _placed(held: Validity, moments: Iterable[datetime]) -> _Period:
    """Return a valid time with its place between the moments of its conflict."""
    begin, end = held
    low, high = min(moments, default=None), max(moments, default=None)

    def place(moment: datetime | None, edge: float) -> float:
        if moment is None or low is None or high is None:
            return edge
        return _LEFT + _WIDE * ((moment - low) / (high - low)) if high > low else _WHOLE / 2

    left, right = place(begin, 0.0), place(end, _WHOLE)
    return _Period(period(held), left, right - left)


def _command(config: MemoryConfig, conflict: Conflict, keep: str) -> tuple[str, ...]:
    """Return the words of the command that gives this answer; for a memory without files those of the call."""
    if config.storage == "memory":
        return f"memory.conflicts.resolve({conflict.id!r},", f"{keep!r})"
    usual = MemoryConfig()
    values = {"save_dir": str(Path(config.save_dir).resolve())}
    shown = {name: getattr(config, name) for name in _FLAGS}
    values |= {name: without_passwords(one) for name, one in shown.items() if one != getattr(usual, name)}
    # An id may begin with a dash, so an equals sign joins each value to its flag.
    flags = [f"--keep={keep}", *(f"--{name}={value}" for name, value in values.items())]
    return tuple(map(shlex.quote, ("neurogated", "resolve", conflict.id, *flags)))
