"""How memories live: tiers, energy, forgetting, consolidation, and the history of changes."""

import math
from datetime import datetime, timedelta
from typing import Any

import click

from neurogated.cli.flags import all_namespaces, command
from neurogated.cli.opening import Flags
from neurogated.cli.output import counted, picked
from neurogated.consolidation.clusters import LEAST
from neurogated.core.clock import day_in, local
from neurogated.core.delta import HistoryEntry
from neurogated.core.scope import ANY_USER
from neurogated.text.times import Zone
from neurogated.viewer.text import NOTHING_FOUND

_DAYS, _STEPS, _BAR = 180.0, 12, 50
_CENTURY = click.FloatRange(0, 36_500, min_open=True)
_days = click.option("--days", type=_CENTURY, default=_DAYS, show_default=True, metavar="N", help="past and forecast")


@command("tiers")
def tiers(flags: Flags, top: int) -> None:
    with flags.open() as memory:
        found = memory.energy.tiers(**flags.owner)
        most = found.most_energy[: max(0, top)]
        texts = {node.id: node.content for node in memory.store.get_nodes([name for name, _ in most], missing_ok=True)}
    counts = [f"{name:<9}  {count}" for part in (found.counts, found.layers) for name, count in part.items()]
    lines = [*counts, "", *([] if any(found.counts.values()) else [NOTHING_FOUND, ""])]
    lines += [f"{found.energy:.3f}  mean energy"]
    lines += [f"{energy:.3f}  {name}  {' '.join(texts.get(name, '').split())}" for name, energy in most]
    shown = picked(found, "at counts layers energy")
    shown["most_energy"] = [{"id": name, "energy": energy, "content": texts.get(name)} for name, energy in most]
    flags.emit(shown, "\n".join(lines))


@command("manifest")
def manifest(flags: Flags, token_budget: int) -> None:
    with flags.open() as memory:
        text = memory.manifest.text(token_budget=token_budget, **flags.owner)
        shown = memory.manifest.get(**flags.owner).as_dict()
    flags.emit(shown, text)


@command("energy")
@_days
def energy(flags: Flags, node_id: str, days: float) -> None:
    with flags.open() as memory:
        course = memory.energy.course(node_id, steps=_STEPS, step=timedelta(days=days / _STEPS))
    # The forecast follows the present.
    present = course[-1 - _STEPS].at
    zone = memory.config.zone
    lines = [
        f"{day_in(point.at, zone):%Y-%m-%d}  {point.energy:.3f}  {'#' * round(point.energy * _BAR):<{_BAR}}"
        f"{'  now' if point.at == present else ''}".rstrip()
        for point in course
    ]
    shown = [picked(point, "at energy") for point in course]
    flags.emit({"id": node_id, "now": present, "course": shown}, "\n".join(lines))


@command("maintain")
@all_namespaces
def maintain(flags: Flags, now: datetime | None) -> None:
    removed = expired = 0
    with flags.open() as memory:
        for _, graph in flags.graphs_of(memory):
            last = graph.store.view().sequence
            removed += graph.maintenance(now)
            expired += sum(
                entry.changes.get("nodes removed", 0) for entry in graph.store.history() if entry.sequence > last
            )
    text = f"{counted(expired, 'expired memories')} removed; idle edges decayed, {removed} of them were removed"
    flags.emit({"expired": expired, "removed": removed}, text)


@command("consolidate")
@all_namespaces
@click.option("--max_clusters", type=int, metavar="N", help="make at most N memories (default: no limit)")
def consolidate(flags: Flags, max_clusters: int | None, now: datetime | None) -> None:
    facts = []
    with flags.open() as memory:
        settings = memory.config.metabolism
        for name, graph in flags.graphs_of(memory):
            made = graph.learning.consolidate(now, user_id=ANY_USER, max_clusters=max_clusters)
            nodes = graph.store.get_nodes(made, missing_ok=True)
            facts += [{"id": node.id, "content": node.content, "namespace": name} for node in nodes]
    lines = [f"made: {len(facts)}", *(f"\n{fact['id']}\n{fact['content']}" for fact in facts)]
    if not facts:
        lines.append(
            f"a profile needs {LEAST} facts of one subject, and a cluster linked memories that "
            f"were each used {settings.consolidation_uses} times or more; what is made already stays"
        )
    flags.emit({"facts": facts}, "\n".join(lines))


@command("history")
def history(flags: Flags, last: int | None) -> None:
    with flags.open() as memory:
        entries = memory.history.list(user_id=ANY_USER)
    if last is not None:
        entries = entries[max(0, len(entries) - last) :]
    text = "\n".join(_history_line(one, memory.config.zone) for one in entries) or "nothing has happened yet"
    flags.emit([_history_json(entry) for entry in entries], text)


@command("undo")
def undo(flags: Flags, to: int | None) -> None:
    with flags.open() as memory:
        entry = memory.undo(to, user_id=flags.owner["user_id"])
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
    return f"{entry.sequence:>6}  {local(entry.at, zone):%Y-%m-%d %H:%M:%S}  {entry.reason}: {', '.join(changes)}"


def _history_json(entry: HistoryEntry) -> dict[str, Any]:
    operators = [picked(operator, "factor idle_before floor") for operator in entry.operators]
    return {**picked(entry, "sequence at reason changes"), "operators": operators}
