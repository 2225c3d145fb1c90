"""Commands about facts, conflicts, energy and forgetting."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

import click

from neurogated.cli.flags import all_namespaces, command
from neurogated.cli.opening import Flags, counted, picked, plain
from neurogated.consolidation.consolidator import LEAST
from neurogated.core.clock import day_in, local
from neurogated.core.delta import HistoryEntry
from neurogated.core.scope import ANY_USER
from neurogated.knowledge.effects import period
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.ranking import NOTHING_FOUND
from neurogated.text.times import Zone
from neurogated.viewer.page import beginning

_LISTED = 5
"""Memories of a change that are shown."""


@command("facts")
@click.option("--add", "stated", nargs=3, metavar="SUBJECT ATTRIBUTE VALUE", help="state this fact")
@click.option("--catch_up", is_flag=True, help="write the facts into the SQL table now")
def facts(flags: Flags, stated: tuple[str, str, str] | None, *, catch_up: bool, **about: Any) -> None:  # noqa: ANN401
    owner = flags.owner["user_id"]
    with flags.open(create=bool(stated)) as memory:
        if stated:
            held = {name: about[name] for name in ("timestamp", "valid_from", "valid_to")}
            fact_id = memory.facts.add(*stated, user_id=owner, **held)
            flags.emit({"id": fact_id}, fact_id)
        elif catch_up:
            count = memory.facts.catch_up()
            flags.emit({"rows": count}, counted(count, "rows written or removed"))
        else:
            found = memory.facts.list(about["subject"], about["attribute"], valid_at=about["valid_at"], user_id=owner)
            lines = list[str]()
            for fact in found:
                days = {"from": fact.valid_from, "to": fact.valid_to}
                known = [f"{word} {day_in(day, memory.config.zone):%Y-%m-%d}" for word, day in days.items() if day]
                known += [f"from {counted(len(fact.sources), 'memories')}"] if fact.sources else []
                said = f"{fact.subject} {fact.attribute}: {'not ' * fact.is_denied}{fact.value}"
                lines.append(f"{fact.id}\n    {said}" + (f"  ({', '.join(known)})" if known else ""))
            flags.emit({"facts": found}, "\n".join((*lines, f"facts: {len(found)}")))


@command("facts parked")
@all_namespaces
@click.option("--retry", is_flag=True, help="ask the model about them, and about all else that waits")
def facts_parked(flags: Flags, memory: NeuroGraphMemory, *, retry: bool) -> None:
    found, settled = [], 0
    for name, graph in flags.graphs_of(memory):
        settled += graph.learning.resume()[0] if retry else 0
        reasons = graph.learning.parked()
        nodes = graph.store.get_nodes(list(reasons), missing_ok=True)
        found += [{**picked(one, "id content"), "reason": reasons[one.id], "namespace": name} for one in nodes]
    lines = [f"parked: {len(found)}"]
    lines += [f"{one['id']}  ({one['reason']})\n    {beginning(one['content'])}" for one in found]
    lines += [f"settled: {settled}"] if retry else []
    flags.emit({"parked": found, "settled": settled}, "\n".join(lines))


@command("conflicts")
def conflicts(
    flags: Flags, memory: NeuroGraphMemory, status: Literal["open", "resolved", "all"], limit: int | None
) -> None:
    owner = flags.reader["user_id"]
    found = memory.conflicts.list(None if status == "all" else status, user_id=owner, limit=limit)
    texts = _texts(memory, (side for one in found for side in one.sides))
    lines = list[str]()
    for one in found:
        lines.append(f"{one.id}  ({one.status}, {one.outcome}, {one.instruction})")
        lines += [f"    {side}  {texts[side]}".rstrip() for side in one.sides]
        lines.append(f"    {one.question}")
    lines.append(f"conflicts: {len(found)}")
    if not found and owner is None:
        lines.append("the conflicts of a user are listed only with --user_id NAME")
    flags.emit({"conflicts": found}, "\n".join(lines))


@command("resolve")
def resolve(flags: Flags, memory: NeuroGraphMemory, conflict_id: str, keep: str, because: str | None) -> None:
    effects = {effect.keep: effect for effect in memory.conflicts.effects(conflict_id)}
    resolved = memory.conflicts.resolve(conflict_id, keep, because=because)
    effect, zone = effects[keep], memory.config.zone
    texts = _texts(memory, effect.times)
    loser = "both memories stand" if resolved.loser is None else f"{resolved.loser} is {resolved.outcome}"
    lines = [f"{resolved.id}: {loser}"]
    for name, (before, after) in effect.times.items():
        change = f"{name} {texts[name]} was valid {period(before, zone)}; now it is valid {period(after, zone)}"
        lines += [change] if before != after else []
    lines += [f"{name} is removed, because it was made from them" for name in effect.removed]
    lines += [f"{name} is open again" for name in effect.opened]
    valid = {name: effect.times[name] for name in effect.changed}
    changes = {"valid": valid, "removed": [*effect.removed, *effect.ended], "opened": effect.opened}
    flags.emit({**plain(resolved), "changes": changes}, "\n".join(lines))


def _texts(memory: NeuroGraphMemory, node_ids: Iterable[str]) -> Mapping[str, str]:
    """Return the beginnings of memories by id; those that were removed meanwhile have none."""
    nodes = memory.store.get_nodes(list(dict.fromkeys(node_ids)), missing_ok=True)
    return defaultdict(str, {node.id: f"“{beginning(node.content)}”" for node in nodes})


@command("separate")
def separate(flags: Flags, memory: NeuroGraphMemory, node_id: str) -> None:
    others = memory.duplicates.of(node_id)
    was_linked = memory.duplicates.separate(node_id)
    line = f"separated from {', '.join(others)}" if was_linked else "no other memory says the same; nothing changed"
    flags.emit({"id": node_id, "separated": was_linked, "from": others if was_linked else []}, line)


_STEPS, _BAR = 12, 50
_CENTURY = click.FloatRange(0, 36_500, min_open=True)


@command("tiers")
def tiers(flags: Flags, memory: NeuroGraphMemory, top: int) -> None:
    found = memory.energy.tiers(**flags.reader)
    most = found.most_energy[: max(0, top)]
    texts = {node.id: node.content for node in memory.store.get_nodes([name for name, _ in most], missing_ok=True)}
    counts = [f"{name:<9}  {count}" for part in (found.counts, found.layers) for name, count in part.items()]
    nothing = [] if any(found.counts.values()) else [NOTHING_FOUND, ""]
    lines = [*counts, "", *nothing, f"{found.energy:.3f}  mean energy"]
    lines += [f"{energy:.3f}  {name}  {' '.join(texts.get(name, '').split())}" for name, energy in most]
    shown = picked(found, "at counts layers energy")
    shown["most_energy"] = [{"id": name, "energy": energy, "content": texts.get(name)} for name, energy in most]
    flags.emit(shown, "\n".join(lines))


@command("manifest")
def manifest(flags: Flags, memory: NeuroGraphMemory, token_budget: int) -> None:
    text = memory.manifest.text(token_budget=token_budget, **flags.reader)
    shown = memory.manifest.get(**flags.reader).as_dict()
    flags.emit(shown, text)


@command("energy")
@click.option("--days", type=_CENTURY, default=180.0, show_default=True, metavar="N", help="past and forecast")
def energy(flags: Flags, memory: NeuroGraphMemory, node_id: str, days: float) -> None:
    course = memory.energy.course(node_id, steps=_STEPS, step=timedelta(days=days / _STEPS))
    # The forecast follows the present.
    present, zone = course[-1 - _STEPS].at, memory.config.zone
    lines = [
        f"{day_in(point.at, zone):%Y-%m-%d}  {point.energy:.3f}  {'#' * round(point.energy * _BAR):<{_BAR}}"
        f"{'  now' if point.at == present else ''}".rstrip()
        for point in course
    ]
    shown = {"now": present, "course": [picked(point, "at energy") for point in course]}
    flags.emit({"id": node_id, **shown}, "\n".join(lines))


@command("maintain")
@all_namespaces
def maintain(flags: Flags, memory: NeuroGraphMemory, now: datetime | None) -> None:
    removed = expired = 0
    for _, graph in flags.graphs_of(memory):
        last = graph.store.view().sequence
        removed += graph.maintenance(now)
        expired += sum(entry.changes.get("nodes removed", 0) for entry in graph.store.history(last))
    text = f"{counted(expired, 'expired memories')} removed; idle edges decayed, {removed} of them were removed"
    flags.emit({"expired": expired, "removed": removed}, text)


@command("consolidate")
@all_namespaces
@click.option("--max_clusters", type=int, metavar="N", help="make at most N memories (default: no limit)")
def consolidate(flags: Flags, memory: NeuroGraphMemory, max_clusters: int | None, now: datetime | None) -> None:
    facts = []
    settings = memory.config.metabolism
    for name, graph in flags.graphs_of(memory):
        made = graph.learning.consolidate(now, user_id=ANY_USER, max_clusters=max_clusters)
        nodes = graph.store.get_nodes(made, missing_ok=True)
        facts += [{"id": node.id, "content": node.content, "namespace": name} for node in nodes]
    lines = [f"made: {len(facts)}", *(f"\n{fact['id']}\n{fact['content']}" for fact in facts)]
    if not facts:
        uses = f"were each used {settings.consolidation_uses} times or more; what is made already stays"
        lines.append(f"a profile needs {LEAST} facts of one subject, and a cluster linked memories that {uses}")
    flags.emit({"facts": facts}, "\n".join(lines))


@command("history")
def history(flags: Flags, memory: NeuroGraphMemory, last: int) -> None:
    flags.note_unknown_user(memory)
    found = memory.history.list(user_id=flags.owner["user_id"] or ANY_USER, last=last + 1)
    entries = found[len(found) > last :]
    lines = [_history_line(one, memory.config.zone) for one in entries]
    lines += [f"the last {counted(last, 'changes')}; --last N shows more"] if len(found) > last else []
    flags.emit([_history_json(entry) for entry in entries], "\n".join(lines) or "nothing has happened yet")


@command("undo")
def undo(flags: Flags, memory: NeuroGraphMemory, to: int | None) -> None:
    entry = memory.undo(to, user_id=flags.reader["user_id"])
    if entry is None:
        flags.emit(None, "there is nothing to take back")
    else:
        flags.emit(_history_json(entry), _history_line(entry, memory.config.zone))


def _history_line(entry: HistoryEntry, zone: Zone) -> str:
    changes = [counted(count, what) for what, count in entry.changes.items()]
    if entry.operators:
        # The steps of one forgetting; an edge that was idle in all of them fades by their product.
        factor = math.prod(operator.factor for operator in entry.operators)
        changes.append(f"idle edges × {factor:g}, below {entry.operators[-1].floor:g} removed")
    line = f"{entry.sequence:>6}  {local(entry.at, zone):%Y-%m-%d %H:%M:%S}  {entry.reason}: {', '.join(changes)}"
    shown = [f"{one.action}  {one.id}  {beginning(one.content)}" for one in entry.memories[:_LISTED]]
    shown += [f"and {len(entry.memories) - _LISTED} more"] if entry.memories[_LISTED:] else []
    return "\n        ".join((line, *shown))


def _history_json(entry: HistoryEntry) -> dict[str, Any]:
    operators = [picked(operator, "factor idle_before floor") for operator in entry.operators]
    return {**plain(entry), "operators": operators, "memories": [one._asdict() for one in entry.memories]}
