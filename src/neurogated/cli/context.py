"""`context`: print the memories that help with a task as text for a prompt."""

from __future__ import annotations

import argparse
import dataclasses

from neurogated.cli.arguments import add_dataset, add_owner, owner_of, time_of
from neurogated.cli.opening import open_memory
from neurogated.cli.output import NOTHING_FOUND, emit, questions, questions_json
from neurogated.context.model import CONTEXT_TOKENS, Context
from neurogated.errors import ConfigError

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated context --save_dir my_agent "Plan the trip to Lyon" --tokens 1000
  neurogated context --save_dir my_agent "Plan the trip to Lyon" --user ana --explain
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument("task", help="the question or the work at hand")
    parser.add_argument(
        "--tokens",
        metavar="N",
        default=str(CONTEXT_TOKENS),
        help=f"most tokens of the text (default: {CONTEXT_TOKENS})",
    )
    add_owner(parser)
    parser.add_argument("--valid_at", metavar="TIME", help="memories that held at this time, in ISO format")
    parser.add_argument("--explain", action="store_true", help="also say why each memory is there")


def command(arguments: argparse.Namespace) -> int:
    """Print the context."""
    if not arguments.tokens.isdecimal():
        raise ConfigError(f"--tokens takes a whole number, but was given {arguments.tokens!r}")
    valid_at = time_of(arguments, "valid_at")
    with open_memory(arguments) as memory:
        context = memory.get_context(
            arguments.task,
            int(arguments.tokens),
            explain=arguments.explain,
            valid_at=valid_at,
            **owner_of(arguments),
        )
    emit(arguments, _json(context), _text(context))
    return 0


def _text(context: Context) -> str:
    if not context:
        return "\n".join(context.notes) or NOTHING_FOUND
    reasons = [f"{name}\n    {choice}" for name, choice in context.choices.items()]
    told = questions(context.conflicts)
    return "\n".join((context.text, f"{context.tokens} of {context.budget} tokens", *told, *reasons))


def _json(context: Context) -> dict[str, object]:
    return {
        "text": context.text,
        "tokens": context.tokens,
        "budget": context.budget,
        "memories": list(context.ids),
        "excerpts": list(context.excerpts),
        "choices": {
            name: {**dataclasses.asdict(choice), "contributions": dict(choice.contributions)}
            for name, choice in context.choices.items()
        },
        "conflicts": questions_json(context.conflicts),
        "notes": list(context.notes),
    }
