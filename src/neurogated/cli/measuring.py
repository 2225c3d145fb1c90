"""Data sets: a demonstration, indexing, and measuring recall."""

import io
import sys
import textwrap
import webbrowser
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from neurogated.cli.flags import command, dataset_dir, dataset_format, top_n
from neurogated.cli.opening import Flags, counted, recall_json, say_how_it_judges
from neurogated.compose import build_text_embedder
from neurogated.evaluation.datasets import BUNDLED, SOURCES_KEY, Dataset, dataset_folder, load_dataset
from neurogated.evaluation.gold import BASELINES
from neurogated.evaluation.runner import RunReport, config_for, measure
from neurogated.evaluation.runner import index as index_dataset
from neurogated.evaluation.workers import index_in_processes
from neurogated.memory import NeuroGraphMemory
from neurogated.viewer import explain, write_page

_PAGE = "why.html"
_QUESTION = "What happy turn gave the men of the drifters work again?"
_SHOWN, _WIDTH = 3, 54
_UNBOUNDED = 10_000


@command("demo", without="dataset")
@dataset_dir
@click.option("--no_browser", is_flag=True, help="do not open the page that explains the answer")
def demo(flags: Flags, *, no_browser: bool) -> None:
    data = _dataset(flags, BUNDLED)
    (asked,) = (one for one in data.collections[0].questions if one.text == _QUESTION)
    with flags.open_sample() as memory:
        say_how_it_judges(memory)
        index_dataset(data, memory)
        recall = memory.recall(_QUESTION)
        (vector,) = build_text_embedder(memory.config).embed_queries([_QUESTION])
        nearest = [node for node, _ in memory.store.vector_search(vector, _SHOWN)]
        page = None
        if memory.config.storage != "memory":
            page = str(write_page(explain(memory, recall), Path(memory.config.save_dir).absolute() / _PAGE))
            if sys.stdout.isatty() and not (no_browser or flags.json):
                webbrowser.open(Path(page).as_uri())
    sides = {"vector search": nearest, "neurogated": [one.node for one in recall][:_SHOWN]}
    right = {name: [bool(asked.gold & {*node.metadata[SOURCES_KEY]}) for node in side] for name, side in sides.items()}
    cells = (
        [f"{'✓' if fits else '✗'} {textwrap.shorten(node.content, _WIDTH, placeholder=' …')}" for node, fits in side]
        for side in (zip(sides[name], right[name], strict=True) for name in sides)
    )
    text = _table(tuple(sides), zip(*cells, strict=False), left=len(sides))
    found = {
        "question": _QUESTION,
        "answers": asked.answers,
        "right": right,
        "recall": recall_json(recall),
        "page": page,
    }
    last = "Next: neurogated chat" if page is None else f"Why: {page}\nNext: neurogated chat"
    flags.emit(
        {**found, "recall": recall_json(recall)}, f"{_QUESTION}\n\n{text}\n\n✓ says it: {asked.answers[0]}\n{last}"
    )


@command("index")
@dataset_dir
@dataset_format
@click.option("--resume", is_flag=True, help="ask the model about all that waits; index nothing")
@click.option(
    "--workers", type=click.IntRange(1), default=1, metavar="N", help="processes that index collections side by side"
)
def index(flags: Flags, *, resume: bool, workers: int) -> None:
    if not flags.dataset and not resume:
        raise click.UsageError("index needs --dataset; single texts are added with 'add'")
    data = None if resume or flags.dataset is None else _dataset(flags, flags.dataset)
    with flags.open(create=not resume, from_scratch=not resume) as memory:
        say_how_it_judges(memory)
        if data is None:
            memories = [memory]
        else:
            memories = index_dataset(data, memory) if workers == 1 else index_in_processes(data, memory, workers)
        judged = sum(done for one in memories for done, _ in [one.learning.resume()])
        stats = [one.admin.stats() for one in memories]
    counts = {name: sum(int(one[name]) for one in stats) for name in ("nodes", "pending")}
    line = f"{counted(counts['nodes'], 'nodes')}, {judged} judged, {counts['pending']} pending"
    flags.emit({**counts, "judged": judged}, line)


@click.group("bench", help="Measure on a data set.", no_args_is_help=False)
def bench() -> None:
    """Measure."""


@command("bench run")
@click.option("--dataset", required=True, metavar="NAME", help="the data set")
@dataset_dir
@dataset_format
@top_n
@click.option("--baseline", default="", metavar="NAMES", help=f"plain searches beside it: {','.join(BASELINES)}")
def bench_run(flags: Flags, *, baseline: str) -> None:
    config = flags.config()
    plain = list(filter(None, map(str.strip, baseline.split(","))))
    if unknown := [name for name in plain if name not in BASELINES]:
        raise click.UsageError(f"--baseline {unknown[0]} is not one of {', '.join(BASELINES)}")
    data = _dataset(flags, str(flags.dataset))
    with NeuroGraphMemory(config_for(data, config)) as memory:
        say_how_it_judges(memory)
        report = measure(data, memory, baselines=plain)
    flags.emit({**report.metrics(), "folder": str(report.folder)}, _report(report))


bench.add_command(bench_run)


def _dataset(flags: Flags, name: str) -> Dataset:
    """Read a data set, and print the notes about its files to standard error."""
    data = load_dataset(name, dataset_folder(flags.dataset_dir, name), flags.format)
    for note in data.notes:
        print(note, file=sys.stderr)
    return data


def _report(report: RunReport) -> str:
    """Return the results of a run as text."""
    columns = list(next(iter(report.recall.values()), {}))[1:]
    rows = report.recall | {name: table["all"] for name, table in report.baselines.items() if table}
    recall = [
        [name, f"{row['questions']:.0f}", *(f"{row[column]:.1f}" for column in columns)] for name, row in rows.items()
    ]
    latency = [[name, *(f"{figure:.2f}" for figure in row.values())] for name, row in report.latency.items()]
    size = f"{counted(report.nodes, 'nodes')}, {counted(report.edges, 'edges')}"
    parts = [f"{size}, indexed in {report.indexing_seconds:.1f} s", "\nRecall in percent"]
    parts += [_table(["", "questions", *columns], recall), "\nTime per question"]
    parts += [_table(["", *next(iter(report.latency.values()), {})], latency)]
    if report.differences:
        against = [[name, *map(str, row.values())] for name, row in report.differences.items()]
        parts += ["\nPoints above a plain search, with the 95 % interval", _table(["", *columns], against)]
    if report.answers is not None:
        parts += ["\nAnswers in percent", ", ".join(f"{name} {figure:.1f}" for name, figure in report.answers.items())]
    return "\n".join((*parts, f"\nWritten to {report.folder}"))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Return a table as text; the first `left` columns are left-aligned, the others right-aligned.

    A table for a terminal has its width; one for a file or a pipe is as wide as its cells.
    """
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, name in enumerate(header):
        made.add_column(name, justify="left" if place < left else "right")
    for row in rows:
        made.add_row(*row)
    text = io.StringIO()
    width = Console().width if sys.stdout.isatty() else _UNBOUNDED
    Console(file=text, width=width, color_system=None, markup=False, highlight=False).print(made)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())
