"""Flags and their help; every setting of `MemoryConfig` has a flag of its name."""

from __future__ import annotations

import argparse
import dataclasses
import typing
from typing import Any

import neurogated
from neurogated.cli import demo, run
from neurogated.config.memory_config import MemoryConfig
from neurogated.evaluation.datasets import FORMATS

__all__ = ["build_parser"]

_DESCRIPTION = """\
Memory for AI agents that works like memory.

Without a command, `run` is meant: index a data set, ask its questions, measure recall.
"""

_EXAMPLES = """\
examples:
  python main.py demo
  python main.py --dataset sample
  python main.py --dataset hotpotqa100 --dataset_dir ../shared/data --save_dir /data/runs
  python main.py --dataset locomo_conv0-4 --dataset_dir ../shared/data --format locomo
  python main.py --dataset sample --config settings.yaml --TOP_K_ANCHORS 8 --force_index_from_scratch
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; `command` of what it parses is the function to call."""
    parser = argparse.ArgumentParser(
        prog="neurogated",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"neurogated {neurogated.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    running = _command(
        commands, "run", run.command, "index a data set, ask its questions, measure recall (the default)"
    )
    running.add_argument("--dataset", required=True, help="name of the data set: its files begin with it")
    running.add_argument(
        "--format",
        choices=tuple(FORMATS),
        default="hipporag",
        help="hipporag: <dataset>_corpus.json and <dataset>.json; locomo: <dataset>.json (default: hipporag)",
    )
    running.add_argument("--top_n", dest="TOP_N_RETRIEVAL", default=None, help="same as --TOP_N_RETRIEVAL")
    # `run` needs no word, so its help is part of the help that needs none.
    parser.epilog = running.format_help()
    _command(commands, "demo", demo.command, "run on the bundled sample data set and show a recall with its paths")
    return parser


def _command(commands: Any, name: str, function: Any, summary: str) -> argparse.ArgumentParser:  # noqa: ANN401 - argparse's own types are private
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        allow_abbrev=False,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=function)
    parser.add_argument(
        "--config", metavar="FILE", help="settings in YAML or JSON; environment and flags win over them"
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser.add_argument(
        "--dataset_dir", metavar="DIR", default="dataset", help="folder of the data set's files (default: dataset)"
    )
    settings = parser.add_argument_group("settings", "each also as NEUROGATED_<NAME> in the environment")
    hints = typing.get_type_hints(MemoryConfig)
    for spec in dataclasses.fields(MemoryConfig):
        # A bare flag turns a switch on; any value is read, and judged, by MemoryConfig.
        optional: dict[str, Any] = {"nargs": "?", "const": "true"} if hints[spec.name] is bool else {}
        default = (
            "none" if spec.default is None else str(spec.default).lower() if hints[spec.name] is bool else spec.default
        )
        settings.add_argument(
            f"--{spec.name}",
            metavar=_metavar(hints[spec.name]),
            default=None,
            help=f"{spec.metadata['help']} (default: {default})".replace("%", "%%"),
            **optional,
        )
    return parser


def _metavar(hint: Any) -> str:  # noqa: ANN401 - a type or a union of types
    kind = next(kind for kind in (*typing.get_args(hint), hint) if isinstance(kind, type))
    return {bool: "true|false", int: "N", float: "X"}.get(kind, "TEXT")
