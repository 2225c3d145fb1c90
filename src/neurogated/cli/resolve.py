"""`resolve`: give a conflict an outcome."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from neurogated.cli.arguments import add_dataset
from neurogated.cli.conflicts import json_of, texts_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit
from neurogated.conflict.effects import Effect, period
from neurogated.core.conflicts import Conflict

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated resolve --save_dir my_agent conflict-3609519c4cad608024b67518934a2719 --keep both
  neurogated resolve --save_dir my_agent conflict-3609519c4cad608024b67518934a2719 --keep supersede --because moved
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    parser.add_argument("conflict", metavar="CONFLICT", help="the id of the conflict; 'conflicts' lists them")
    add_dataset(parser)
    parser.add_argument(
        "--keep", required=True, metavar="WHICH", help="the id of the right memory, or 'both', or 'supersede'"
    )
    parser.add_argument("--because", metavar="TEXT", help="the reason")


def command(arguments: argparse.Namespace) -> int:
    """Resolve a conflict and print the changes."""
    with open_memory(arguments) as memory:
        effects = {effect.keep: effect for effect in memory.effects(arguments.conflict)}
        resolved = memory.resolve(arguments.conflict, arguments.keep, because=arguments.because)
        effect = effects[arguments.keep]
        texts = texts_of(memory, effect.times)
    emit(arguments, {**json_of(resolved), "changes": _json(effect)}, "\n".join(_lines(resolved, effect, texts)))
    return 0


def _lines(conflict: Conflict, effect: Effect, texts: Mapping[str, str]) -> list[str]:
    """Return the changes in words."""
    loser = "both memories stand" if conflict.loser is None else f"{conflict.loser} is {conflict.outcome}"
    changes = [
        f"{name} {texts[name]} was valid {period(before)}; now it is valid {period(after)}"
        for name, (before, after) in effect.times.items()
        if before != after
    ]
    removed = [f"{name} is removed, because it was made from them" for name in effect.removed]
    opened = [f"{name} is open again" for name in effect.opened]
    return [f"{conflict.id}: {loser}", *(changes or ["no valid time changed"]), *removed, *opened]


def _json(effect: Effect) -> dict[str, object]:
    moments = {name: [[at and at.isoformat() for at in held] for held in effect.times[name]] for name in effect.changed}
    return {"valid": moments, "removed": [*effect.removed, *effect.ended], "opened": list(effect.opened)}
