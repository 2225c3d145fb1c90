"""`profile`: show where recalls and indexing of a memory spend their time."""

from __future__ import annotations

import argparse
import cProfile
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neurogated.cli.arguments import add_dataset
from neurogated.cli.opening import open_memory, say_how_it_judges
from neurogated.cli.output import emit
from neurogated.cli.tables import grid_text
from neurogated.errors import ConfigError, InputError
from neurogated.evaluation.metrics import PERCENT, Table, latency_table
from neurogated.evaluation.profiling import (
    FunctionTime,
    IndexingTimes,
    indexed,
    scratch_memory,
    stored_documents,
    stored_questions,
    top_functions,
)
from neurogated.ingestion.document import Document, read_documents
from neurogated.memory import NeuroGraphMemory

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated bench profile --dataset sample
  neurogated bench profile --save_dir my_agent --questions asked.txt --documents notes.txt
  neurogated bench profile --save_dir my_agent --queries 200 --cprofile recall.prof --functions 30
"""

_QUERIES, _TEXTS, _FUNCTIONS = 50, 64, 10
_QUESTION_LENGTH = 100
_MILLISECONDS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset(parser)
    parser.add_argument(
        "--queries",
        metavar="N",
        type=int,
        default=_QUERIES,
        help=f"number of questions, taken from stored texts (default: {_QUERIES})",
    )
    parser.add_argument("--questions", metavar="FILE", help="ask these questions instead: UTF-8, one per line")
    parser.add_argument(
        "--texts",
        metavar="N",
        type=int,
        default=_TEXTS,
        help=f"number of stored texts to re-index into a temporary memory; 0: none (default: {_TEXTS})",
    )
    parser.add_argument(
        "--documents",
        metavar="FILE",
        help="index these texts instead, into a temporary copy of the memory: UTF-8, blank lines between texts, or a "
        "JSON list of objects with 'text' and 'title'",
    )
    parser.add_argument(
        "--cprofile",
        metavar="FILE",
        help="run it again under cProfile, save the profile to FILE, and show the top functions",
    )
    parser.add_argument(
        "--functions",
        metavar="N",
        type=int,
        default=_FUNCTIONS,
        help=f"number of functions that --cprofile shows (default: {_FUNCTIONS})",
    )


def command(arguments: argparse.Namespace) -> int:
    """Ask, index and print the tables."""
    for name in ("queries", "functions"):
        if getattr(arguments, name) < 1:
            raise ConfigError(f"--{name} is {getattr(arguments, name)}, but must be at least 1")
    if arguments.texts < 0:
        raise ConfigError(f"--texts is {arguments.texts}, but must be at least 0")
    arguments.read_only = "true"
    with open_memory(arguments) as memory:
        say_how_it_judges(memory)
        questions, documents = _questions(arguments, memory), _documents(arguments, memory)
        # The first question loads the model.
        memory.retriever.recall(questions[0])
        seconds = [memory.retriever.recall(question).seconds for question in questions]
        times = _index(arguments, memory, documents) if documents else None
        functions = _functions(arguments, memory, questions, documents) if arguments.cprofile is not None else None
    _print(arguments, seconds, times, functions)
    return 0


def _questions(arguments: argparse.Namespace, memory: NeuroGraphMemory) -> list[str]:
    made = stored_questions(memory.store, arguments.queries, _QUESTION_LENGTH)
    if arguments.questions is None:
        return made
    given = [line.strip() for line in _read(arguments.questions).splitlines() if line.strip()]
    if not given:
        raise InputError(f"{arguments.questions} holds no question; write one per line")
    return given


def _documents(arguments: argparse.Namespace, memory: NeuroGraphMemory) -> list[Document]:
    if arguments.documents is None:
        return stored_documents(memory.store, arguments.texts) if arguments.texts else []
    text = _read(arguments.documents)
    if not arguments.documents.endswith(".json"):
        given: Any = [part for part in text.split("\n\n") if part.strip()]
    else:
        try:
            given = json.loads(text)
        except ValueError as error:
            raise InputError(f"{arguments.documents} is not JSON ({error})") from None
    if not isinstance(given, list) or not given:
        raise InputError(f"{arguments.documents} holds no list of texts; see 'profile --help'")
    return list(read_documents(given))


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read as UTF-8 text ({error})") from error


def _index(arguments: argparse.Namespace, memory: NeuroGraphMemory, documents: Sequence[Document]) -> IndexingTimes:
    with scratch_memory(memory, copy=arguments.documents is not None) as scratch:
        return indexed(scratch, documents)


def _functions(
    arguments: argparse.Namespace, memory: NeuroGraphMemory, questions: Sequence[str], documents: Sequence[Document]
) -> list[FunctionTime]:
    """Run it again under cProfile, which slows it down, and save the profile."""
    profile = cProfile.Profile()
    with scratch_memory(memory, copy=arguments.documents is not None) as scratch, profile:
        for question in questions:
            memory.retriever.recall(question)
        scratch.add_documents(documents, progress=False)
    try:
        profile.dump_stats(arguments.cprofile)
    except OSError as error:
        raise InputError(f"{arguments.cprofile} cannot be written ({error}); choose another file") from error
    return top_functions(profile, arguments.functions)


def _print(
    arguments: argparse.Namespace,
    seconds: Sequence[Mapping[str, float]],
    times: IndexingTimes | None,
    functions: Sequence[FunctionTime] | None,
) -> None:
    recall, parts = _recall_table(seconds), [_recall_text(seconds)]
    value: dict[str, Any] = {"questions": len(seconds), "recall": recall}
    if times is not None:
        value["indexing"] = {
            "documents": times.documents,
            "nodes": times.nodes,
            "seconds": times.seconds,
            "stages": dict(times.stages),
        }
        parts.append(_indexing_text(times))
    if functions is not None:
        value["functions"] = [line._asdict() for line in functions]
        parts.append(_functions_text(functions))
    emit(arguments, value, "\n\n".join(parts))


def _recall_table(seconds: Sequence[Mapping[str, float]]) -> Table:
    """Return median and 95th percentile in milliseconds and the share of all time in percent, a row per stage."""
    table = latency_table(seconds)
    totals = {stage: sum(one.get(stage, 0.0) for one in seconds) for stage in table if stage != "all except embed"}
    whole = sum(totals.values())
    totals["all except embed"] = whole - totals["embed"]
    return {stage: {**row, "share %": PERCENT * totals[stage] / whole} for stage, row in table.items()}


def _recall_text(seconds: Sequence[Mapping[str, float]]) -> str:
    table = _recall_table(seconds)
    rows = [
        [stage, f"{row['median ms']:.2f}", f"{row['p95 ms']:.2f}", f"{row['share %']:.1f}"]
        for stage, row in table.items()
    ]
    return grid_text([f"recall, {len(seconds)} questions", "median ms", "p95 ms", "share %"], rows)


def _indexing_text(times: IndexingTimes) -> str:
    rows = [
        [
            stage,
            f"{spent:.3f}",
            f"{_MILLISECONDS * spent / times.nodes:.2f}" if times.nodes else "-",
            f"{PERCENT * spent / times.seconds:.1f}",
        ]
        for stage, spent in [*times.stages.items(), ("all", times.seconds)]
    ]
    return grid_text([f"indexing, {times.nodes} texts", "seconds", "ms per text", "share %"], rows)


def _functions_text(functions: Sequence[FunctionTime]) -> str:
    rows = [[line.function, str(line.calls), f"{line.own:.3f}", f"{line.total:.3f}"] for line in functions]
    return grid_text(["function", "calls", "own s", "total s"], rows)
