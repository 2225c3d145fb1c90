"""A change is computed and written under one lock."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from neurogated import GraphDelta, GraphStore, MemoryNode
from neurogated.core.commit import Committer


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
