"""The changes that each answer to a conflict would make, computed without a write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time

from neurogated.core.conflicts import CONFLICT, Conflict, Validity, conflicts_about
from neurogated.core.judgements import Verdict
from neurogated.core.ports import GraphStorePort
from neurogated.knowledge.settlement import resolution, times_of


@dataclass(frozen=True, slots=True)
class Effect:
    """The changes that an answer to a conflict would make."""

    keep: str
    """The answer, as `resolve` takes it: the id of the right memory, `both` or `supersede`."""
    outcome: Verdict
    """The state of the memory `loser`, or `contested` if both stand."""
    loser: str | None
    """The id of the memory that would be superseded or wrong."""
    times: Mapping[str, tuple[Validity, Validity]]
    """The valid times, before and after, of both sides and of each other memory that changes, by id."""
    removed: tuple[str, ...]
    """The ids of the facts that would be removed, because they were made from a memory that changes."""
    ended: tuple[str, ...]
    """The ids of the conflicts about removed facts, which would be removed too."""
    opened: tuple[str, ...]
    """The ids of the other conflicts that would be open again, because they call the right memory wrong."""
    touched: tuple[str, ...]
    """The ids of the remaining conflicts about memories that change."""

    @property
    def changed(self) -> list[str]:
        """The ids of the memories whose valid time would change."""
        return [name for name, (before, after) in self.times.items() if before != after]


def effect_of(store: GraphStorePort, conflict: Conflict, keep: str, at: datetime) -> Effect:
    """Return the changes that an answer to a conflict would make at a time; see `resolution`."""
    delta, settled = resolution(store, conflict, keep, None, at)
    after = {node.id: times_of(node) for node in delta.nodes if node.kind != CONFLICT}
    before = {node.id: times_of(node) for node in store.get_nodes(list(dict.fromkeys((*conflict.sides, *after))))}
    times = {name: (held, after.get(name, held)) for name, held in before.items()}
    written = [node for node in delta.nodes if node.kind == CONFLICT and node.id != conflict.id]
    known = {node.id: Conflict.of(node).status for node in store.get_nodes([node.id for node in written])}
    opened = [one.id for one in map(Conflict.of, written) if one.status != known[one.id]]
    gone = {node.id: node.kind == CONFLICT for node in store.get_nodes(delta.removed_nodes, missing_ok=True)}
    effect = Effect(
        keep,
        settled.outcome,
        settled.loser,
        times,
        removed=tuple(name for name, is_conflict in gone.items() if not is_conflict),
        ended=tuple(name for name, is_conflict in gone.items() if is_conflict),
        opened=tuple(opened),
        touched=(),
    )
    about = conflicts_about(store.view(), effect.changed)
    others = {conflict.id, *gone, *opened}
    return replace(effect, touched=tuple(name for name in about if name not in others))


def period(held: Validity) -> str:
    """Return a valid time in words."""
    begin, end = held
    if begin is not None and begin == end:
        return "at no time"
    parts = [f"{word} {_moment(at)}" for word, at in (("from", begin), ("until", end)) if at is not None]
    return " ".join(parts) or "without limit"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d}" if at.time() == time() else f"{at:%Y-%m-%d %H:%M} UTC"
