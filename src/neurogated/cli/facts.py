"""`facts`: list the facts of a memory, or state one."""

from __future__ import annotations

import argparse
import dataclasses
from datetime import datetime
from typing import Any

from neurogated.cli.arguments import add_dataset, add_user, time_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import emit
from neurogated.core.facts import Fact
from neurogated.memory import NeuroGraphMemory

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated facts --save_dir my_agent --add Ana city Lyon --valid_from 2026-05-01
  neurogated facts --save_dir my_agent --subject Ana
  neurogated facts --save_dir my_agent --catch_up
"""


_PARTS = ("SUBJECT", "ATTRIBUTE", "VALUE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("--add", nargs=len(_PARTS), metavar=_PARTS, help="state this fact")
    parser.add_argument("--subject", metavar="NAME", help="only facts about it")
    parser.add_argument("--attribute", metavar="NAME", help="only facts about this property")
    add_user(parser, "the user who owns the facts")
    parser.add_argument("--valid_from", metavar="TIME", help="when the stated fact began to hold, in ISO format")
    parser.add_argument("--valid_to", metavar="TIME", help="when it ceased to hold, in ISO format")
    parser.add_argument("--valid_at", metavar="TIME", help="only facts that held at this time, in ISO format")
    parser.add_argument("--catch_up", action="store_true", help="write the facts into the SQL table now")


def command(arguments: argparse.Namespace) -> int:
    """State a fact, or list facts."""
    with open_memory(arguments, create=bool(arguments.add)) as memory:
        if arguments.add:
            fact_id = _state(memory, arguments)
            emit(arguments, {"id": fact_id}, fact_id)
        elif arguments.catch_up:
            count = memory.catch_up_facts()
            emit(arguments, {"rows": count}, f"{count} rows written or removed")
        else:
            facts = memory.facts(
                arguments.subject,
                arguments.attribute,
                valid_at=time_of(arguments, "valid_at"),
                user_id=arguments.user_id,
            )
            lines = [*map(_line, facts), f"facts: {len(facts)}"]
            emit(arguments, {"facts": [_json(fact) for fact in facts]}, "\n".join(lines))
    return 0


def _state(memory: NeuroGraphMemory, arguments: argparse.Namespace) -> str:
    begin, end = time_of(arguments, "valid_from"), time_of(arguments, "valid_to")
    subject, attribute, value = arguments.add
    return memory.add_fact(subject, attribute, value, user_id=arguments.user_id, valid_from=begin, valid_to=end)


def _line(fact: Fact) -> str:
    held = [f"{word} {day:%Y-%m-%d}" for word, day in (("from", fact.valid_from), ("to", fact.valid_to)) if day]
    sources = [f"from {len(fact.sources)} memories"] if fact.sources else []
    about = ", ".join([*held, *sources])
    return f"{fact.id}\n    {fact.statement}" + (f"  ({about})" if about else "")


def _json(fact: Fact) -> dict[str, Any]:
    values = {field.name: getattr(fact, field.name) for field in dataclasses.fields(fact) if field.name != "scope"}
    plain = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}
    return {**plain, "user_id": fact.scope.user_id}
