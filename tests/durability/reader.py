"""A process that reads while another writes: `python reader.py FILE STOP`, until the file STOP exists."""

import sys
import time
from pathlib import Path

from neurogated.errors import InputError
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.sqlite_store import SqliteStore

__all__ = ["look"]


def look(store: GraphStore) -> int:
    """Check that no pair is incomplete and return the number of pairs."""
    view = store.view()
    names = {view.ids[row] for row in view.live_nodes().tolist()}
    numbers = {name[1:] for name in names}
    assert names == {side + number for side in "lr" for number in numbers}, "half a pair"
    edges = view.live_edges()
    assert edges.size == 2 * len(numbers), "half a pair of edges"
    assert abs(view.weight.take(edges).sum() - len(numbers)) < 1e-9, "weights of half a pair"
    return len(numbers)


def main() -> None:
    """Read the present and the past repeatedly."""
    path, stop = Path(sys.argv[1]), Path(sys.argv[2])
    with SqliteStore.open(path, read_only=True) as store:
        looks = 0
        while not stop.exists():
            look(store)
            looks += 1
            found = store.vector_search([1.0, 1.0], 3)
            assert len(found) <= 3
            if looks % 5 == 0:
                sequence = store.view().sequence
                try:
                    past = store.as_of(sequence // 2)
                except InputError:
                    continue
                look(past)
            time.sleep(0.005)
        print(looks, look(store), store.view().sequence)  # noqa: T201


if __name__ == "__main__":
    main()
