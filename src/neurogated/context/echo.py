"""Finds echoes: exact quotations of memories that a recall handed out lately.

A lost statement is worse than one that is stored twice. So only exact quotations are echoes, never mere repetitions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import get_args

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.context.layout import line_of
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, OPENING, quoted_memory
from neurogated.core.scope import Scope

__all__ = ["ASSISTANT", "EchoFinder", "HandedOut"]

ASSISTANT = "assistant"
"""The role whose messages can be echoes."""
_MARKS = ('""', "“”", "„“", "„”", "«»", "»«", "「」", "『』")
_ELEMENT, _END = "<memory", "</memory>"
_LATER_LINE, _JOINT = "\n  ", "\0"


class HandedOut:
    """The memories that recalls have handed out lately, by owner. Several threads may use it. It holds ids only."""

    def __init__(self, settings: MetabolismSettings) -> None:
        self._is_on = settings.skip_echoes
        self._most, self._owners = settings.echo_memories, settings.canvas_count
        self._lasts = timedelta(minutes=settings.echo_minutes)
        self._lock = threading.Lock()
        self._ids: OrderedDict[tuple[str, str | None], OrderedDict[str, datetime]] = OrderedDict()

    def add(self, namespace: str, user_id: str | None, ids: Sequence[str], now: datetime) -> None:
        """Note the memories of a recall, best first."""
        if not self._is_on:
            return
        with self._lock:
            held = self._ids.setdefault((namespace, user_id), OrderedDict())
            self._ids.move_to_end((namespace, user_id))
            for name in reversed(ids[: self._most]):
                held[name] = now
                held.move_to_end(name)
            while len(held) > self._most:
                held.popitem(last=False)
            while len(self._ids) > self._owners:
                self._ids.popitem(last=False)

    def ids(self, namespace: str, user_id: str | None, now: datetime) -> list[str]:
        """Return the memories that were handed out lately, the latest first."""
        with self._lock:
            held = self._ids.get((namespace, user_id), OrderedDict[str, datetime]())
            return [name for name, at in reversed(held.items()) if abs(now - at) <= self._lasts]


class EchoFinder:
    """Compares messages of one owner with memories that were handed out."""

    def __init__(self, nodes: Sequence[MemoryNode], scope: Scope, now: datetime) -> None:
        """Take the memories, the owner of the messages, and the time.

        A memory counts if it has the same owner, or the same except that it is in no session, and never expires.
        """
        owners = {scope, Scope(scope.user_id, scope.agent_id, None, scope.path)}
        self._nodes = [node for node in nodes if node.scope in owners and node.expires_at is None]
        self._now = now

    def outside(self, text: str) -> tuple[str, list[str]]:
        """Return a text without the blocks that consist of lines of memories, and the ids of these memories.

        A block is made by `Recall.as_text` or `get_context`. It is kept if anything in it was changed or added.
        """
        before, *parts = text.split(f"{OPENING}\n")
        names = dict(line for node in self._nodes for line in _lines(node)) if parts else {}
        kept, found = [before], list[str]()
        for part in parts:
            block, closing, rest = part.partition(f"\n{CLOSING}")
            lines = _divided(block) if closing else []
            if lines and all(line in names for line in lines):
                found += [names[line] for line in lines]
                kept.append(rest)
            else:
                kept.append(f"{OPENING}\n{part}")
        return ("".join(kept).strip(), list(dict.fromkeys(found))) if found else (text, [])

    def quoted(self, text: str) -> str | None:
        """Return the id of the memory that a text quotes if it is the whole memory in quotation marks, and only that.

        A memory that holds for a time only, or that is of another day, may say something else now.
        """
        text = text.strip()
        if text[:1] + text[1:][-1:] not in _MARKS:
            return None
        said = text[1:-1].split()
        return next((node.id for node in self._nodes if node.content.split() == said and self._still_says(node)), None)

    def _still_says(self, node: MemoryNode) -> bool:
        if node.valid_from is not None or node.valid_to is not None:
            return False
        day = (node.timestamp or node.created_at).astimezone(UTC).date()
        return day == self._now.astimezone(UTC).date()


def _lines(node: MemoryNode) -> Iterator[tuple[str, str]]:
    """Yield the elements and lines of a memory in all states, each with the id of the memory."""
    for state in (None, *get_args(Verdict)):
        line = line_of(node, 0, state=state)
        yield f"{line.heading}\n{line.text}", node.id
        yield quoted_memory(node, state), node.id


def _divided(block: str) -> list[str]:
    """Return the elements of `Recall.as_text`, or else the lines of `get_context`, each with its heading.

    Later lines of a memory are indented there, so they stay with the first.
    """
    if block.startswith(_ELEMENT):
        *elements, last = f"{block}\n".split(f"{_END}\n")
        return [*(f"{element}{_END}" for element in elements), *([last] if last else [])]
    before, *groups = f"\n{block}".replace(_LATER_LINE, _JOINT).split("\n# ")
    divided = [before] if before else []
    for group in groups:
        heading, *lines = group.split("\n")
        divided += [f"# {heading}\n{line}".replace(_JOINT, _LATER_LINE) for line in lines or [""]]
    return divided
