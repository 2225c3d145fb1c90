"""`NeuroStore` and `AsyncNeuroStore` pass every probe of the kit for stores of LangGraph."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from langgraph.store.base import BaseStore, IndexConfig, TTLConfig

from langgraph_store_kit import LangGraphStoreContract
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.langgraph import AsyncNeuroStore, NeuroStore
from neurogated.integrations.langgraph.items import Order
from neurogated.integrations.langgraph.writing import embedder_of
from neurogated.session import compose


class NeuroStoreContract(LangGraphStoreContract):
    """Opens stores whose clock can be moved forward."""

    lifetime = 10
    order: ClassVar[Order] = "activation"
    ahead = timedelta()

    @contextmanager
    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[BaseStore]:
        config = MemoryConfig(storage="sqlite", save_dir=place, embedding_name="hash")
        parts = compose.build(config, clock=lambda: datetime.now(UTC) + self.ahead, embedder=embedder_of(index))
        with (
            NeuroGraphMemory(config, parts=parts) as memory,
            NeuroStore(memory, index=index, ttl=ttl, order=self.order) as store,
        ):
            yield store

    def advance(self, store: BaseStore, minutes: float) -> None:  # noqa: ARG002 - all stores of a test have one clock
        self.ahead += timedelta(minutes=minutes)


@pytest.mark.slow
class TestNeuroStore(NeuroStoreContract):
    pass


@pytest.mark.nightly
class TestNeuroStoreByCosine(NeuroStoreContract):
    order = "cosine"


@pytest.mark.nightly
class TestAsyncNeuroStore(NeuroStoreContract):
    """By day, `test_async_store.py` tests what it adds to a `NeuroStore`, which it hands every operation."""

    loop: asyncio.AbstractEventLoop

    @contextmanager
    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[BaseStore]:
        self.loop = loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            with super().open_store(place, index=index, ttl=ttl) as below:
                yield self.run(_created(below))
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401
        return asyncio.run_coroutine_threadsafe(call, self.loop).result()

    def sweep(self, store: Any) -> int:  # noqa: ANN401
        return int(self.run(store.sweep_ttl()))


async def _created(below: BaseStore) -> AsyncNeuroStore:
    assert isinstance(below, NeuroStore)
    return AsyncNeuroStore(below)
