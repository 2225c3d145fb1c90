"""A change is computed and written under one lock."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from hypothesis import given
from hypothesis import strategies as st

from neurogated import GraphDelta, GraphStore, MemoryNode
from neurogated.core.commit import Committer, newest_first
from neurogated.core.delta import LATEST, HistoryEntry


class Watched(GraphStore):
    """Counts the changes that are asked for."""

    read = 0

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        self.read += up_to - after
        return super().history(after, up_to)


@given(changes=st.integers(0, 120), before=st.none() | st.integers(0, 130))
def test_changes_are_read_from_the_newest_and_few_more_than_are_taken(changes: int, before: int | None) -> None:
    store = Watched()
    for number in range(changes):
        store.apply(GraphDelta(nodes=(MemoryNode(str(number), "x"),)))
    whole, store.read = store.history(), 0
    found = newest_first(store) if before is None else newest_first(store, before)
    wanted = [one for one in reversed(whole) if before is None or one.sequence < before]
    for taken, one in enumerate(wanted, start=1):
        assert next(found) == one
        assert store.read <= 16 + 3 * taken
    assert not list(found)


def test_no_other_thread_computes_a_change_between_another_one_and_its_write() -> None:
    store, seen, jobs = GraphStore(), list[tuple[str, int]](), list[Future[None]]()
    committer = Committer(store)

    def add(name: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        def plan() -> GraphDelta:
            seen.append((name, store.view().node_count))
            meanwhile()
            return GraphDelta(nodes=(MemoryNode(name, name),))

        committer.commit(plan)

    def start_another() -> None:
        jobs.append(other.submit(add, "second"))
        # It waits for the lock; without one, it would be done by now.
        wait(jobs, timeout=0.2)

    with ThreadPoolExecutor(1) as other:
        add("first", start_another)
        jobs[0].result()
    assert seen == [("first", 0), ("second", 1)]
