"""The parts of facts, by which a new fact finds those that it may contradict."""

from __future__ import annotations

from collections.abc import Iterable

from neurogated.core.conflicts import moment_of
from neurogated.core.model import MemoryNode
from neurogated.text.keywords import fold
from neurogated.text.words import split_words

__all__ = ["attribute_of", "latest_of_each", "subject_of"]


def subject_of(node: MemoryNode) -> str:
    """Return the subject of a fact in folded words; empty for a memory that is no fact."""
    parts = node.found.statement
    return "" if parts is None else " ".join(split_words(fold(parts.subject)))


def attribute_of(node: MemoryNode) -> str:
    """Return the attribute of a fact in folded words; empty for a memory that is no fact."""
    parts = node.found.statement
    return "" if parts is None else " ".join(split_words(fold(parts.attribute)))


def latest_of_each(facts: Iterable[MemoryNode]) -> list[MemoryNode]:
    """Return the latest of the facts of each attribute; `facts` begin with those that were added last."""
    ordered = sorted(facts, key=moment_of)
    return list({attribute_of(one): one for one in ordered}.values())
