"""`demo`: the main job on the bundled sample, and one recall shown in full."""

from __future__ import annotations

import argparse
import textwrap

from neurogated.cli.run import print_report
from neurogated.cli.settings import config_of
from neurogated.core.model import MemoryNode
from neurogated.core.trace import Recall
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import config_for, measure
from neurogated.ingestion.encoder import render
from neurogated.memory import NeuroGraphMemory

__all__ = ["command", "print_recall"]

_WIDTH = 90
_QUESTION = "What happened after the lamp on Orrskell Rock went out?"


def command(arguments: argparse.Namespace) -> int:
    """Run the sample and print the recall of one question with its paths."""
    dataset = load_dataset(BUNDLED, dataset_folder(arguments.dataset_dir, BUNDLED), "hipporag")
    with NeuroGraphMemory(config_for(dataset, config_of(arguments))) as memory:
        print_report(measure(dataset, memory))
        sample = memory.in_namespace(dataset.collections[0].name)
        print_recall(sample, sample.recall(_QUESTION))
    return 0


def print_recall(memory: NeuroGraphMemory, recall: Recall) -> None:
    """Print memories with their scores, and by which way the energy of each came."""
    print(f"\n{recall.query}")
    for rank, recalled in enumerate(recall, start=1):
        parts = ", ".join(f"{name} {value:.3f}" for name, value in recalled.parts.items())
        print(f"\n{rank}. score {recalled.score:.3f} ({parts})")
        print(f"   {render(recalled.content, recalled.metadata)}".replace("\n", "\n   "))
        for step in recalled.path:
            source = memory.store.get_node(step.source_id)
            print(f"   energy {step.flow:.3f} came by {step.type.name} from: {_beginning(source)}")


def _beginning(node: MemoryNode) -> str:
    return textwrap.shorten(render(node.content, node.metadata), _WIDTH, placeholder=" …")
