"""Facts, contradictions, and memories that say the same."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import click

from neurogated.cli.flags import command
from neurogated.cli.opening import Flags
from neurogated.cli.output import counted, picked
from neurogated.core.clock import day_in
from neurogated.core.conflicts import Conflict
from neurogated.core.facts import Fact
from neurogated.knowledge.effects import Effect, period
from neurogated.memory import NeuroGraphMemory
from neurogated.text.times import Zone
from neurogated.viewer.text import beginning

_SHOWN = "id first second confidence outcome loser status because reason question instruction"


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
            lines = [*(_fact_line(fact, memory.config.zone) for fact in found), f"facts: {len(found)}"]
            flags.emit({"facts": [_fact_json(fact) for fact in found]}, "\n".join(lines))


def _fact_line(fact: Fact, zone: Zone) -> str:
    held = [
        f"{word} {day_in(day, zone):%Y-%m-%d}"
        for word, day in (("from", fact.valid_from), ("to", fact.valid_to))
        if day
    ]
    sources = [f"from {counted(len(fact.sources), 'memories')}"] if fact.sources else []
    about = ", ".join([*held, *sources])
    line = f"{fact.subject} {fact.attribute}: {'not ' * fact.is_denied}{fact.value}"
    return f"{fact.id}\n    {line}" + (f"  ({about})" if about else "")


def _fact_json(fact: Fact) -> dict[str, Any]:
    names = " ".join(field.name for field in dataclasses.fields(fact) if field.name != "scope")
    return {**picked(fact, names), "user_id": fact.scope.user_id}


@command("conflicts")
def conflicts(flags: Flags, status: Literal["open", "resolved", "all"], limit: int | None) -> None:
    owner = flags.owner["user_id"]
    with flags.open() as memory:
        found = memory.conflicts.list(None if status == "all" else status, user_id=owner, limit=limit)
        texts = _texts(memory, (side for one in found for side in one.sides))
        shown: dict[str, Any] = {"conflicts": list(map(_conflict_json, found))}
        lines = [*(_conflict_text(one, texts) for one in found), f"conflicts: {len(found)}"]
        if not found and owner is None:
            lines.append("the conflicts of a user are listed only with --user_id NAME")
        flags.emit(shown, "\n".join(lines))


@command("resolve")
def resolve(flags: Flags, conflict_id: str, keep: str, because: str | None) -> None:
    with flags.open() as memory:
        effects = {effect.keep: effect for effect in memory.conflicts.effects(conflict_id)}
        resolved = memory.conflicts.resolve(conflict_id, keep, because=because)
        effect = effects[keep]
        texts, zone = _texts(memory, effect.times), memory.config.zone
    valid = {name: effect.times[name] for name in effect.changed}
    changes = {"valid": valid, "removed": [*effect.removed, *effect.ended], "opened": effect.opened}
    flags.emit({**_conflict_json(resolved), "changes": changes}, _effect_text(resolved, effect, texts, zone))


def _effect_text(conflict: Conflict, effect: Effect, texts: Mapping[str, str], zone: Zone) -> str:
    loser = "both memories stand" if conflict.loser is None else f"{conflict.loser} is {conflict.outcome}"
    changes = [
        f"{name} {texts[name]} was valid {period(before, zone)}; now it is valid {period(after, zone)}"
        for name, (before, after) in effect.times.items()
        if before != after
    ]
    removed = [f"{name} is removed, because it was made from them" for name in effect.removed]
    opened = [f"{name} is open again" for name in effect.opened]
    return "\n".join((f"{conflict.id}: {loser}", *(changes or ["no valid time changed"]), *removed, *opened))


def _texts(memory: NeuroGraphMemory, node_ids: Iterable[str]) -> Mapping[str, str]:
    """Return the beginnings of memories by id; those that were removed meanwhile have none."""
    nodes = memory.store.get_nodes(list(dict.fromkeys(node_ids)), missing_ok=True)
    return defaultdict(str, {node.id: f"“{beginning(node.content)}”" for node in nodes})


def _conflict_text(conflict: Conflict, texts: Mapping[str, str]) -> str:
    state = f"{conflict.status}, {conflict.outcome}, {conflict.instruction}"
    sides = [f"    {side}  {texts[side]}".rstrip() for side in conflict.sides]
    return "\n".join((f"{conflict.id}  ({state})", *sides, f"    {conflict.question}"))


def _conflict_json(conflict: Conflict) -> dict[str, Any]:
    return {**picked(conflict, _SHOWN), "kind": conflict.kind.value, "user_id": conflict.scope.user_id}


@command("separate")
def separate(flags: Flags, node_id: str) -> None:
    with flags.open() as memory:
        others = memory.duplicates.of(node_id)
        was_linked = memory.duplicates.separate(node_id)
    line = f"separated from {', '.join(others)}" if was_linked else "no other memory says the same; nothing changed"
    flags.emit({"id": node_id, "separated": was_linked, "from": others if was_linked else []}, line)
