"""What outlasts a restart, a killed process, and many callers at once."""

import inspect
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from langgraph_store_kit.base import DOCS, StoreContractBase, fill, found, index_of, keys, value_of
from langgraph_store_kit.writer import SIZE

THREADS = 8
FOREVER = 1_000_000


class DurabilityContract(StoreContractBase):
    """A store at the same place has the same items later."""

    def test_a_reopened_store_has_its_items(self, durable_place: str) -> None:
        """Values, timestamps, namespaces and deletions outlast a restart."""
        with self.open_store(durable_place) as store:
            fill(store, {"a": {"n": 1, "é": [True, None, 0.5]}, "b": {"n": 2}, "c": {"n": 3}})
            store.put(("docs", "below"), "d", {"n": 1})
            store.delete(DOCS, "c")
            before = store.search(())
        with self.open_store(durable_place) as store:
            assert {(item.namespace, item.key): item for item in store.search(())} == {
                (item.namespace, item.key): item for item in before
            }
            assert found(store, filter={"n": 1}) == ["a", "d"]
            assert sorted(store.list_namespaces()) == [("docs",), ("docs", "below")]
            assert store.get(DOCS, "c") is None

    def test_a_reopened_store_answers_queries(self, durable_place: str) -> None:
        """Vectors outlast a restart."""
        self.require("vectors", "vector search")
        with self.open_store(durable_place, index=index_of()) as store:
            fill(store, {"fruit": {"text": "green pears"}, "sea": {"text": "cold waves"}})
        with self.open_store(durable_place, index=index_of()) as store:
            assert keys(store.search(DOCS, query="pears"))[0] == "fruit"

    def test_a_killed_process_loses_nothing_that_returned(self, durable_place: str) -> None:
        """Batches that have returned are there after the process was killed."""
        returned = self.kill_after(durable_place, 10)
        with self.open_store(durable_place) as store:
            batches = self.batches(store, "killed")
        assert [batches[number] for number in range(returned + 1)] == [SIZE] * (returned + 1)

    def test_a_killed_process_leaves_whole_batches(self, durable_place: str) -> None:
        """A batch during which the process was killed is applied whole or not at all, and the store can be written."""
        for round_ in range(3):
            self.kill_after(durable_place, 4 + round_ * 3)
            with self.open_store(durable_place) as store:
                assert set(self.batches(store, "killed").values()) == {SIZE}
                store.put(DOCS, "after", {"n": round_})
                assert value_of(store, "after") == {"n": round_}

    def test_two_open_stores_see_each_other(self, durable_place: str) -> None:
        """What one returned from putting, the other reads, in both directions."""
        self.require("shared", "use by several processes")
        with self.open_store(durable_place) as one, self.open_store(durable_place) as two:
            for number in range(3):
                one.put(DOCS, "one", {"n": number})
                assert value_of(two, "one") == {"n": number}
                two.put(DOCS, "two", {"n": number})
                assert value_of(one, "two") == {"n": number}
            two.delete(DOCS, "one")
            assert found(one) == ["two"]

    def test_two_processes_write_at_once(self, durable_place: str) -> None:
        """Two processes and this one lose nothing of what they write at the same time."""
        self.require("shared", "use by several processes")
        with self.open_store(durable_place) as store:
            writers = [self.writer(durable_place, name, 20) for name in "ab"]
            for number in range(20):
                fill(store, {f"{number}": {"n": number}})
            for writer in writers:
                output, errors = writer.communicate(timeout=120)
                assert writer.returncode == 0, errors
                assert len(output.split()) == 20
            assert len(found(store)) == 20
            for name in "ab":
                assert self.batches(store, name) == dict.fromkeys(range(20), SIZE)

    def writer(self, place: str, name: str, count: int) -> subprocess.Popen[str]:
        """Start a process that writes batches."""
        module = "langgraph_store_kit.writer"
        arguments = [inspect.getfile(type(self)), type(self).__name__, place, name, str(count)]
        return subprocess.Popen(  # noqa: S603 - this interpreter, with arguments of the test
            [sys.executable, "-m", module, *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill_after(self, place: str, batches: int) -> int:
        """Kill a writing process soon after a number of batches; return the number of the last that returned."""
        with self.writer(place, "killed", FOREVER) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            lines = [process.stdout.readline() for _ in range(batches)]
            process.kill()
            rest, errors = process.communicate()
        assert lines[-1], errors
        return int((lines + rest.split())[-1])

    @staticmethod
    def batches(store: BaseStore, name: str) -> Counter[int]:
        """Return the number of items of each batch of a writer."""
        items = store.search(("batches", name), limit=FOREVER)
        return Counter(item.value["batch"] for item in items)


class ConcurrencyContract(StoreContractBase):
    """Threads share a store."""

    @pytest.fixture
    def racing(self, store: BaseStore) -> Iterator[BaseStore]:
        """Yield a new, empty store while the interpreter changes threads as often as it can, so that races show."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        yield store
        sys.setswitchinterval(interval)

    @staticmethod
    def at_once(work: Callable[[int], Any]) -> list[Any]:
        """Call a function with the number of each thread, in all threads at once; raise the first error."""
        start = threading.Barrier(THREADS)

        def call(number: int) -> Any:  # noqa: ANN401
            start.wait()
            return work(number)

        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(call, range(THREADS)))

    def test_threads_lose_no_put(self, racing: BaseStore) -> None:
        """Puts of eight threads into shared and own namespaces all arrive."""

        def work(thread: int) -> None:
            for number in range(10):
                racing.put(DOCS, f"{thread}-{number}", {"n": number})
                racing.put(("own", str(thread)), str(number), {"n": number})
                assert racing.get(DOCS, f"{thread}-{number}") is not None

        self.at_once(work)
        assert len(found(racing)) == THREADS * 10
        assert len(racing.search(("own",), limit=1_000)) == THREADS * 10
        assert len(racing.list_namespaces()) == THREADS + 1

    def test_threads_that_write_the_same_keys_finish(self, racing: BaseStore) -> None:
        """Batches of the same keys in different orders do not lock each other out."""

        def work(thread: int) -> None:
            order = range(50) if thread % 2 else range(49, -1, -1)
            for number in range(5):
                fill(racing, {str(key): {"thread": thread, "number": number} for key in order})

        self.at_once(work)
        assert len(found(racing)) == 50

    def test_readers_see_whole_batches(self, racing: BaseStore) -> None:
        """A search never returns a part of a batch that another thread is writing."""
        seen = self.read_while_writing(racing, lambda: {item.value["n"] for item in racing.search(DOCS, limit=100)})
        assert {len(numbers) for numbers in seen} == {1}

    @staticmethod
    def read_while_writing(store: BaseStore, read: Callable[[], Any]) -> list[Any]:
        """Call a function again and again in two threads while batches of a hundred items are written."""
        fill(store, {str(key): {"n": 0} for key in range(100)})
        done = threading.Event()
        seen: list[Any] = []

        def work() -> None:
            while not done.is_set():
                seen.append(read())

        with ThreadPoolExecutor(2) as pool:
            readers = [pool.submit(work) for _ in range(2)]
            try:
                for number in range(1, 30):
                    fill(store, {str(key): {"n": number} for key in range(100)})
            finally:
                done.set()
            for reader in readers:
                reader.result()
        return seen

    def test_readers_are_not_disturbed_by_writers(self, racing: BaseStore) -> None:
        """Searches and listings raise no errors while other threads put and delete."""

        def work(thread: int) -> None:
            for number in range(30):
                if thread % 2:
                    racing.search((), filter={"n": number})
                    racing.list_namespaces()
                else:
                    racing.put(("a", str(thread), str(number)), "one", {"n": number})
                    racing.delete(("a", str(thread), str(number - 3)), "one")

        self.at_once(work)
        assert len(racing.list_namespaces()) == THREADS // 2 * 3


class SizeContract(StoreContractBase):
    """Thousands of items."""

    def test_large_namespaces_are_searched_whole(self, store: BaseStore) -> None:
        """Filters and pages reach every one of 3,000 items."""
        for start in range(0, 3_000, 1_000):
            fill(store, {f"{number}": {"n": number, "odd": number % 2} for number in range(start, start + 1_000)})
        assert len(store.search(DOCS, limit=10_000)) == 3_000
        assert keys(store.search(DOCS, filter={"n": 2_321})) == ["2321"]
        assert len(store.search(DOCS, filter={"odd": 1}, limit=1_000, offset=1_000)) == 500

    def test_a_query_may_return_thousands_of_items(self, indexed: BaseStore) -> None:
        """A limit above a thousand is obeyed with a query, too."""
        fill(indexed, {f"{number}": {"text": f"item {number}"} for number in range(1_500)})
        assert len(indexed.search(DOCS, query="item", limit=2_000)) == 1_500
