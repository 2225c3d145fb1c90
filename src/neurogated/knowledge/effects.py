"""The answers to conflicts, and the changes that follow from them and from new facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time

from neurogated.core.clock import local
from neurogated.core.conflicts import CONFLICT, Conflict, Validity, conflicts_about, disputes_about, edges_of
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.derivation import derived_from, sources_of
from neurogated.core.facts import Foreseen
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.text.times import Zone


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
    """The ids of the other conflicts that would be open: they call the right memory wrong, or a wrong one hid them."""
    touched: tuple[str, ...]
    """The ids of the remaining conflicts about memories that change."""

    @property
    def changed(self) -> list[str]:
        """The ids of the memories whose valid time would change."""
        return [name for name, (before, after) in self.times.items() if before != after]


def effect_of(store: GraphStorePort, conflict: Conflict, keep: str, at: datetime) -> Effect:
    """Return the changes that an answer to a conflict would make at a time; see `resolution`."""
    delta, settled = resolution(store, conflict, keep, None, at)
    foreseen, view = store.foreseen(delta), store.view()
    sides = {node.id: (node.valid_from, node.valid_to) for node in store.get_nodes(conflict.sides)}
    times = {name: (held, held) for name, held in sides.items()} | dict(foreseen.times)
    gone = {node.id: node.kind == CONFLICT for node in store.get_nodes(delta.removed_nodes, missing_ok=True)}
    before = {one.id: one for one in disputes_about(store.snapshot(view), times)}
    written = [Conflict.of(node) for node in delta.nodes if node.kind == CONFLICT]
    after = {name: one for name, one in before.items() if name not in foreseen.ended and name not in gone}
    after |= {one.id: one for one in (*foreseen.conflicts, *written)}
    is_open = {name for name, one in after.items() if one.status == "open"}
    opened = tuple(name for name in is_open if name not in before or before[name].status != "open")
    changed = {name for name, (held, holds) in times.items() if held != holds}
    others = {conflict.id, *opened}
    return Effect(
        keep,
        settled.outcome,
        settled.loser,
        times,
        removed=tuple(name for name, is_conflict in gone.items() if not is_conflict),
        ended=tuple(name for name, is_conflict in gone.items() if is_conflict),
        opened=opened,
        touched=tuple(name for name, one in after.items() if changed & {*one.sides} and name not in others),
    )


def resolution(
    store: GraphStorePort, conflict: Conflict, keep: str, because: str | None, at: datetime
) -> tuple[GraphDelta, Conflict]:
    """Return the delta that answers a conflict by `keep`, a side's id, `both` or `supersede`, and the conflict."""
    first, second = store.get_nodes(conflict.sides)
    conflict, opened = replace(conflict, because=because, by_user=True), list[Conflict]()
    if keep in conflict.sides:
        settled = conflict.settled("wrong", conflict.other(keep))
        about = disputes_about(store.snapshot(), [keep])
        acquitted = (one for one in about if one.id != conflict.id and one.outcome == "wrong" and one.loser == keep)
        opened = [one.opened() for one in acquitted]
    elif keep == "both":
        settled = conflict.settled("contested", None)
    else:
        earlier = second if second.moment < first.moment else first
        settled = conflict.settled("superseded", earlier.id)
    delta = recorded(store, GraphDelta(reason="resolve", at=at), [settled, *opened])
    return with_consequences(store, delta, store.foreseen(delta)), settled


def recorded(store: GraphStorePort, delta: GraphDelta, conflicts: Iterable[Conflict]) -> GraphDelta:
    """Return a delta that also stores conflicts, whose sides it or the graph has."""
    found, written = list(conflicts), {node.id: node for node in delta.nodes}
    if not found:
        return delta
    names = {side for one in found for side in one.sides if side not in written}
    known = written | {node.id: node for node in store.get_nodes([*names])}
    return replace(
        delta,
        nodes=(*delta.nodes, *(one.node([known[side] for side in one.sides], delta.at) for one in found)),
        edges=(*delta.edges, *(edge for one in found for edge in edges_of(one, delta.at))),
        owner=Owner.MEMORY,
    )


def with_consequences(store: GraphStorePort, delta: GraphDelta, foreseen: Foreseen) -> GraphDelta:
    """Return a delta that also puts memories whose valid time changes, and removes what was made of disputed ones."""
    view, put, gone = store.view(), {node.id for node in delta.nodes}, set(delta.removed_nodes)
    written = (Conflict.of(node) for node in delta.nodes if node.kind == CONFLICT)
    disputed = {side for one in (*foreseen.conflicts, *written) if one.status == "open" for side in one.sides}
    about = disputed.union(name for name in foreseen.times if name not in gone)
    if not about:
        return delta
    about.update(*sources_of(view, about).values())
    outdated = derived_from(view, about)
    gone.update(outdated)
    ended = store.get_nodes([name for name in foreseen.times if name not in gone and name not in put])
    removed = dict.fromkeys((*delta.removed_nodes, *outdated, *conflicts_about(view, outdated)))
    nodes: tuple[MemoryNode, ...] = (*delta.nodes, *ended)
    return replace(delta, removed_nodes=tuple(removed), nodes=nodes, owner=Owner.MEMORY)


def period(held: Validity, zone: Zone) -> str:
    """Return a valid time in words; its days are those of a zone."""
    begin, end = held
    if begin is not None and begin == end:
        return "at no time"
    named = ((word, local(at, zone)) for word, at in (("from", begin), ("until", end)) if at is not None)
    parts = [f"{word} {at:%Y-%m-%d}" + ("" if at.time() == time() else f" {at:%H:%M}") for word, at in named]
    return " ".join(parts) or "without limit"
