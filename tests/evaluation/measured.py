"""Measures a data set in a memory of its own."""

from collections.abc import Sequence

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.gold import Dataset
from neurogated.evaluation.runner import RunReport, config_for, measure


def run(dataset: Dataset, config: MemoryConfig, *, baselines: Sequence[str] = (), judge: bool = False) -> RunReport:
    """Open the memory of `dataset`, and return what was measured."""
    with NeuroGraphMemory(config_for(dataset, config)) as memory:
        return measure(dataset, memory, baselines=baselines, judge=judge)
