"""A process that writes until it is stopped or killed: `python writer.py FILE FIRST`.

Each delta adds a pair of nodes with an edge in each direction. Their weights sum to 1, so half a delta would be
visible. The process prints the number of each pair after it is acknowledged.
"""

import sys
from pathlib import Path

from neurogated import EdgeType, GraphDelta, MemoryEdge, MemoryNode
from neurogated.storage.sqlite_store import SqliteStore

__all__ = ["pair"]


def pair(number: int) -> GraphDelta:
    """Return the delta that adds the pair of that number."""
    left, right = f"l{number}", f"r{number}"
    weight = number % 8 / 8
    return GraphDelta(
        nodes=tuple(MemoryNode(id=name, content=f"pair {number}", embedding=[1.0, number]) for name in (left, right)),
        edges=(MemoryEdge(left, right, EdgeType.SEQ, weight), MemoryEdge(right, left, EdgeType.SEQ, 1 - weight)),
    )


def main() -> None:
    """Write pairs. Now and then compact, create and drop a namespace, and take a snapshot."""
    path, number = Path(sys.argv[1]), int(sys.argv[2])
    with SqliteStore.open(path) as store:
        while True:
            store.apply(pair(number))
            print(number, flush=True)  # noqa: T201
            number += 1
            if number % 10 == 0:
                store.apply(GraphDelta(removed_nodes=(f"l{number - 5}", f"r{number - 5}")))
                store.in_namespace("brief").apply(pair(number))
            if number % 20 == 0:
                store.drop_namespace("brief")
                store.compact()
                store.backup(path.with_name(f"{number}.snapshot"))


if __name__ == "__main__":
    main()
