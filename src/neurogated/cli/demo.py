"""`demo`: an explained answer on the bundled sample, two kernels on one graph, and forgetting."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from datetime import timedelta
from pathlib import Path

import numpy as np

from neurogated.cli.arguments import add_dataset_folder
from neurogated.cli.opening import config_of, say_how_it_judges
from neurogated.cli.output import emit, recall_json, recall_text
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.edge_type import EdgeType
from neurogated.core.trace import Recall
from neurogated.core.view import GraphView
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import config_for, index
from neurogated.memory import NeuroGraphMemory
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.storage.graph_store import GraphStore
from neurogated.viewer import explain, write_page

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated demo
  neurogated demo --save_dir my_demo --no-browser
"""
_PAGE = "why.html"

_CAUSE_QUESTION = "Why did the herring fail?"
_CONSEQUENCE_QUESTION = "What came of the failure of the herring?"
_DAYS, _DAYS_A_LINE = 240, 20
_BAR = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset_folder(parser)
    parser.add_argument("--no-browser", action="store_true", help="do not open the page that explains the answer")


def command(arguments: argparse.Namespace) -> int:
    """Answer a question, open the page that explains it, then show another kernel on the same graph, and forgetting."""
    dataset = load_dataset(BUNDLED, dataset_folder(arguments.dataset_dir, BUNDLED), "hipporag")
    with NeuroGraphMemory(config_for(dataset, config_of(arguments))) as memory:
        say_how_it_judges(memory)
        index(dataset, memory)
        recalls = [memory.recall(question) for question in (_CAUSE_QUESTION, _CONSEQUENCE_QUESTION)]
        fading = _fading(memory)
        texts = [recall_text(memory.store, recall) for recall in recalls]
        page = _written(memory, recalls[0])
    if page is not None and sys.stdout.isatty() and not (arguments.no_browser or arguments.json):
        webbrowser.open(page.as_uri())
    text = "\n".join(
        (
            texts[0],
            "" if page is None else f"\nThe page that explains this answer: {page}",
            "\n— The same graph under the kernel of another question —\n",
            texts[1],
            f"\n— {_DAYS} days without use: similarity stays, idle sequence fades —\n",
            _chart(fading),
            "\nNext: neurogated chat",
        )
    )
    value = {
        "recalls": [recall_json(recall) for recall in recalls],
        "fading": fading,
        "page": None if page is None else str(page),
    }
    emit(arguments, value, text)
    return 0


def _written(memory: NeuroGraphMemory, recall: Recall) -> Path | None:
    """Write the page that explains a recall beside the memory; a memory that writes nothing has none."""
    if memory.config.storage == "memory":
        return None
    return write_page(explain(memory, recall), Path(memory.config.save_dir) / _PAGE)


def _fading(memory: NeuroGraphMemory) -> list[dict[str, float]]:
    """Return mean weight and number of SIM and SEQ edges over simulated days, on a copy of the graph."""
    start = memory.store.history()[0].at
    copy = GraphStore()
    nodes, edges = tuple(memory.store.all_nodes()), tuple(memory.store.all_edges())
    copy.apply(GraphDelta(nodes=nodes, edges=edges, at=start, owner=Owner.LOG))
    plasticity = PlasticityEngine(copy, memory.config, lambda: start)
    rows = []
    for day in range(_DAYS + 1):
        if day % _DAYS_A_LINE == 0:
            rows.append({"day": float(day), **_strengths(copy.view())})
        plasticity.decay_unused(start + timedelta(days=day + memory.config.learning.idle_days + 1))
    return rows


def _strengths(view: GraphView) -> dict[str, float]:
    edges = view.live_edges()
    weights, codes = view.weight.take(edges), view.edge_type[edges]
    found: dict[str, float] = {}
    for kind in (EdgeType.SIM, EdgeType.SEQ):
        of_kind = weights[codes == view.edge_types.index(kind)] if kind in view.edge_types else np.empty(0)
        found[f"{kind.name} edges"] = float(of_kind.size)
        found[f"{kind.name} weight"] = float(of_kind.mean()) if of_kind.size else 0.0
    return found


def _chart(rows: list[dict[str, float]]) -> str:
    lines = []
    for row in rows:
        for kind in (EdgeType.SIM, EdgeType.SEQ):
            weight = row[f"{kind.name} weight"]
            day = f"day {row['day']:3.0f}" if kind is EdgeType.SIM else ""
            bar = "█" * round(weight * _BAR)
            lines.append(f"{day:8}{kind.name}  {bar:<{_BAR}}  {weight:.3f} × {row[f'{kind.name} edges']:.0f}")
    return "\n".join(lines)
