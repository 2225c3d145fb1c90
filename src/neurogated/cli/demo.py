"""`demo`: the main job on the bundled sample, and what makes this memory different shown on it."""

from __future__ import annotations

import argparse
from datetime import timedelta

import numpy as np

from neurogated.cli.arguments import add_dataset_folder
from neurogated.cli.opening import config_of, say_how_it_judges
from neurogated.cli.output import emit, recall_json, recall_text
from neurogated.cli.run import report_text
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.view import GraphView
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import config_for, measure
from neurogated.memory import NeuroGraphMemory
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.storage.graph_store import GraphStore

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated demo
  neurogated demo --save_dir my_demo
"""

_CAUSE_QUESTION = "Why did the herring fail?"
_CONSEQUENCE_QUESTION = "What came of the failure of the herring?"
_DAYS, _DAYS_A_LINE = 240, 20
_BAR = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    add_dataset_folder(parser)


def command(arguments: argparse.Namespace) -> int:
    """Run the sample, then show two kernels on one graph, then forgetting."""
    dataset = load_dataset(BUNDLED, dataset_folder(arguments.dataset_dir, BUNDLED), "hipporag")
    with NeuroGraphMemory(config_for(dataset, config_of(arguments))) as memory:
        say_how_it_judges(memory)
        report = measure(dataset, memory)
        recalls = [memory.recall(question) for question in (_CAUSE_QUESTION, _CONSEQUENCE_QUESTION)]
        fading = _fading(memory)
        text = "\n".join(
            (
                report_text(report),
                "\n— One graph, two kernels —\n",
                "\n\n".join(recall_text(memory.store, recall) for recall in recalls),
                f"\n— {_DAYS} days without use: similarity stays, idle sequence fades —\n",
                _chart(fading),
            )
        )
    value = {**report.metrics(), "recalls": [recall_json(recall) for recall in recalls], "fading": fading}
    emit(arguments, value, text)
    return 0


def _fading(memory: NeuroGraphMemory) -> list[dict[str, float]]:
    """Return mean weight and number of SIM and SEQ edges over simulated days, on a copy of the graph."""
    start = memory.store.history()[0].at
    copy = GraphStore()
    copy.apply(GraphDelta(nodes=tuple(memory.store.all_nodes()), edges=tuple(memory.store.all_edges()), at=start))
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
