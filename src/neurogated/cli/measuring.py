"""Data sets: a demonstration, indexing, and measuring recall."""

import sys
import webbrowser
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from neurogated.cli.flags import command, dataset_dir, dataset_format, top_n
from neurogated.cli.opening import Flags, counted, recall_json, say_how_it_judges
from neurogated.core.extras import import_extra
from neurogated.core.quoting import day_of
from neurogated.evaluation.datasets import Dataset, dataset_folder, load_dataset
from neurogated.evaluation.gold import BASELINES
from neurogated.evaluation.report import write_report
from neurogated.evaluation.runner import RunReport, config_for, index_in_processes, measure
from neurogated.evaluation.runner import index as index_dataset
from neurogated.memory import NeuroGraphMemory
from neurogated.viewer import explain, write_page

_PAGE = "why.html"
_CHAT = (
    ("2026-05-04T09:00:00Z", "Ana", "Our team dinner is at Luigi's on Friday at seven."),
    ("2026-05-05T09:00:00Z", "Ana", "The kitchen of Luigi's had a fire last night."),
    ("2026-05-05T09:01:00Z", "Ben", "Then we eat at the Lotus instead, same time."),
    ("2026-05-06T17:00:00Z", "Ana", "The printer in our office is broken again."),
)
_ASKED = {"Why do we not eat at Luigi's?": 1, "Where do we eat on Friday?": 2}
"""Questions about the chat, and the place of the message that answers each."""


@command("demo", without="dataset")
@click.option("--no_browser", is_flag=True, help="do not open the page that explains the first answer")
def demo(flags: Flags, *, no_browser: bool) -> None:
    lines, found = ["Ana and Ben wrote on three days:"], list[dict[str, Any]]()
    with flags.open_sample(in_memory=True) as memory:
        say_how_it_judges(memory)
        for timestamp, name, text in _CHAT:
            said = {"role": "user", "name": name, "content": text}
            memory.add(said, session_id="dinner", timestamp=timestamp)
            lines.append(f"  {name}, {day_of(datetime.fromisoformat(timestamp))}: {text}")
        lines.append("")
        vectors = memory.session.parts.embedder.embed_queries(list(_ASKED))
        for (question, place), vector in zip(_ASKED.items(), vectors, strict=True):
            found_by_vector = memory.store.snapshot()
            (nearest,) = found_by_vector.nodes(found_by_vector.nearest([vector], 1)[0][0])
            recall = memory.recall(question)
            first = {"Vector search": nearest.content, "neurogated": recall[0].content}
            right = {name: text == _CHAT[place][-1] for name, text in first.items()}
            lines += [question, *(f"  {name} finds first: {text}" for name, text in first.items())]
            found.append({"question": question, "first": first, "right": right, "recall": recall_json(recall)})
            if len(found) == 1:
                folder = Path(memory.config.save_dir)
                folder.mkdir(parents=True, exist_ok=True)
                page = write_page(explain(memory, recall), folder / _PAGE)
    if sys.stdout.isatty() and not (no_browser or flags.json):
        webbrowser.open(page.as_uri())
    lines += ["", f"{folder / _PAGE} explains the first answer. Next: neurogated chat --save_dir my_agent"]
    flags.emit({"asked": found, "page": str(page)}, "\n".join(lines))


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


@command("bench run")
@click.option("--dataset", required=True, metavar="NAME", help="the data set")
@dataset_dir
@dataset_format
@top_n
@click.option("--baseline", default="", metavar="NAMES", help=f"plain searches beside it: {','.join(BASELINES)}")
@click.option("--report", is_flag=True, help="also write a page with plots, report.html; needs matplotlib")
@click.option("--judge", is_flag=True, help="ask the language model whether its answers are right")
def bench_run(flags: Flags, *, baseline: str, report: bool, judge: bool) -> None:
    config = flags.config()
    plain = list(filter(None, map(str.strip, baseline.split(","))))
    if unknown := [name for name in plain if name not in BASELINES]:
        raise click.UsageError(f"--baseline {unknown[0]} is not one of {', '.join(BASELINES)}")
    if report:
        import_extra("matplotlib", "plots")
    data = _dataset(flags, str(flags.dataset))
    with NeuroGraphMemory(config_for(data, config)) as memory:
        say_how_it_judges(memory)
        done = measure(data, memory, baselines=plain, judge=judge)
    page = {"report": str(write_report(done.folder))} if report else {}
    flags.emit({**done.metrics(), "folder": str(done.folder), **page}, _report(done))


def _dataset(flags: Flags, name: str) -> Dataset:
    data = load_dataset(name, dataset_folder(flags.dataset_dir, name), flags.format)
    for note in data.notes:
        print(note, file=sys.stderr)
    return data


def _report(report: RunReport) -> str:
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
    if report.answers:
        answers = [[name, *(f"{figure:.1f}" for figure in row.values())] for name, row in report.answers.items()]
        parts += ["\nAnswers in percent", _table(["", *report.answers["all"]], answers)]
    if report.use:
        parts += ["\nModel: " + ", ".join(f"{name} {figure:,}" for name, figure in report.use.items())]
    return "\n".join((*parts, f"\nWritten to {report.folder}"))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text; the first column is left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    pad = [str.rjust if place else str.ljust for place in range(len(widths))]
    lines = [map(lambda to, cell, width: to(cell, width), pad, row, widths) for row in (header, *rows)]
    return "\n".join("  ".join(cells).rstrip() for cells in lines)
