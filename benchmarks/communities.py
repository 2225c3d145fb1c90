"""The time to find communities from scratch and after new edges, and how many nodes change their community.

python -m benchmarks.communities --nodes 100000 --edges 600000
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from neurogated.communities.leiden import LeidenCommunities
from neurogated.core.communities import Communities, Links

__all__ = ["graph"]

_MEMBERS = 20
_WITHIN = 0.8


class _Measured(NamedTuple):
    wall: float
    cpu: float
    found: Communities


def main() -> None:
    """Print a line for each graph and resolution."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=600_000)
    parser.add_argument("--new", type=float, default=0.01, help="new edges, as a share of the edges")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    finder = LeidenCommunities()
    print("graph      resolution  scratch s (CPU)  after new edges s (CPU)  changed %  communities")
    for name, within in (("groups", _WITHIN), ("random", 0.0)):
        links = graph(arguments.nodes, arguments.edges, within, random)
        more = graph(arguments.nodes, int(arguments.new * arguments.edges), 0.0, random)
        grown = Links(*map(np.concatenate, zip(links[:3], more[:3], strict=True)), links.owner)
        for resolution in (0.05, 0.1, 0.3):
            scratch = _median(partial(finder.find, links, resolution), arguments.rounds)
            old = scratch.found
            after = _median(partial(finder.find, grown, resolution, old), arguments.rounds)
            changed = 100 * (after.found.labels != old.labels).mean()
            count = len(after.found.members())
            print(
                f"{name:10} {resolution:10}  {scratch.wall:9.2f} ({scratch.cpu:.2f})  "
                f"{after.wall:17.2f} ({after.cpu:.2f})  {changed:9.2f}  {count:11,}"
            )


def graph(nodes: int, edges: int, within: float, random: np.random.Generator) -> Links:
    """Return random links; a share `within` of them is inside of groups of about 20 nodes."""
    group = random.integers(0, max(1, nodes // _MEMBERS), nodes)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(group.max() + 2))
    source = random.integers(0, nodes, edges)
    size = (starts[1:] - starts[:-1])[group[source]]
    near = order[starts[group[source]] + (random.random(edges) * size).astype(np.int64)]
    target = np.where(random.random(edges) < within, near, random.integers(0, nodes, edges))
    weight = random.uniform(0.1, 1, edges)
    return Links(source.astype(np.int32), target.astype(np.int32), weight, np.zeros(nodes, dtype=np.int32))


def _median(act: Callable[[], Communities], rounds: int) -> _Measured:
    """Return the median seconds and the result."""
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        found = act()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return _Measured(statistics.median(walls), statistics.median(cpus), found)


if __name__ == "__main__":
    main()
