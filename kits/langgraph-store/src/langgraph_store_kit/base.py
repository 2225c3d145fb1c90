"""The base of the contract: creation of stores, their abilities, and the fixtures of the probes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pytest
from langgraph.store.base import BaseStore, IndexConfig, Item, PutOp, TTLConfig

from langgraph_store_kit.words import DIMENSION, embed_words

NewStore = Callable[..., BaseStore]
"""Opens the store of the test: `opened(index=…, ttl=…)`."""
DOCS = ("docs",)
"""The namespace of probes that need only one."""
SOON = 0.6
"""A share of the lifetime; two of it are more than one lifetime."""


class StoreContractBase:
    """Opens stores. The overridden hooks and attributes declare what the store can do."""

    vectors: ClassVar[bool] = True
    """Whether `open_store` accepts an `index`."""
    ttl: ClassVar[bool] = True
    """Whether items may expire."""
    asynchronous: ClassVar[bool] = True
    """Whether the store has `abatch`."""
    durable: ClassVar[bool] = True
    """Whether a store opened again at its place has its items."""
    shared: ClassVar[bool] = True
    """Whether several processes may open the same place at the same time."""
    lifetime: ClassVar[float] = 0.05
    """The minutes after which items expire in these tests; override it together with `advance`."""

    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> AbstractContextManager[BaseStore]:
        """Return a context manager that opens the store at a place and closes it. Every subclass must override it.

        Args:
            place: the value of the fixture `place`: a folder, unless the subclass overrides the fixture.
            index: the index configuration; only given if `vectors` is True.
            ttl: how items expire; only given if `ttl` is True.
        """
        raise NotImplementedError(f"{type(self).__name__} must override open_store(place, *, index, ttl)")

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - the result of the coroutine
        """Run a coroutine; override it if the store belongs to an event loop."""
        return asyncio.run(call)

    def advance(self, store: BaseStore, minutes: float) -> None:  # noqa: ARG002 - for stores with a clock
        """Let time pass for the store; override it if its clock can be set."""
        time.sleep(minutes * 60)

    def sweep(self, store: Any) -> int:  # noqa: ANN401 - BaseStore does not name this method
        """Delete the items that have expired and return their number."""
        return int(store.sweep_ttl())

    # Fixtures

    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        """Return where the store of the test is kept: a new folder. A store on a server overrides it with a URL."""
        return str(tmp_path)

    @pytest.fixture
    def opened(self, place: str) -> Iterator[NewStore]:
        """Yield a function that opens the store of the test; it is closed after the test."""
        with ExitStack() as stack:
            yield lambda **options: stack.enter_context(self.open_store(place, **options))

    @pytest.fixture
    def store(self, opened: NewStore) -> BaseStore:
        """Return a new, empty store."""
        return opened()

    @pytest.fixture
    def indexed(self, opened: NewStore) -> BaseStore:
        """Return a new, empty store that embeds whole items; skip the test if it has no vector search."""
        self.require("vectors", "vector search")
        return opened(index=index_of())

    @pytest.fixture
    def expiring(self, opened: NewStore) -> BaseStore:
        """Return a new, empty store whose expired items are not read; skip the test if items cannot expire."""
        self.require("ttl", "expiry")
        return opened(ttl={"omit_expired": True})

    @pytest.fixture
    def async_store(self, store: BaseStore) -> BaseStore:
        """Return a new, empty store; skip the test if it has no asynchronous interface."""
        self.require("asynchronous", "the asynchronous interface")
        return store

    @pytest.fixture
    def durable_place(self, place: str) -> str:
        """Return where the store of the test is kept; skip the test if the store is not durable."""
        self.require("durable", "durability")
        return place

    def require(self, ability: str, what: str) -> None:
        """Skip the test if the subclass declares that the store lacks an ability."""
        if not getattr(self, ability):
            pytest.skip(f"{type(self).__name__}.{ability} is False, so {what} was not tested")

    def pass_soon(self, store: BaseStore) -> None:
        """Let more than half a lifetime pass."""
        self.advance(store, self.lifetime * SOON)

    def pass_lifetime(self, store: BaseStore) -> None:
        """Let more than a lifetime pass."""
        self.advance(store, self.lifetime * SOON * 2)


def index_of(*fields: str, embed: Any = embed_words) -> IndexConfig:  # noqa: ANN401 - all that an index accepts
    """Return an index configuration with the kit's embedder."""
    return IndexConfig(dims=DIMENSION, embed=embed, fields=list(fields) or ["$"])


def fill(store: BaseStore, values: Mapping[str, Any], namespace: tuple[str, ...] = DOCS, **options: Any) -> None:  # noqa: ANN401
    """Put values under their keys in one batch; `options` are fields of the operations."""
    store.batch([PutOp(namespace, key, value, **options) for key, value in values.items()])


def keys(items: Iterable[Item]) -> list[str]:
    """Return the keys of items, in their order."""
    return [item.key for item in items]


def found(store: BaseStore, **options: Any) -> list[str]:  # noqa: ANN401 - arguments of `search`
    """Return the sorted keys of a search among `DOCS`."""
    return sorted(keys(store.search(DOCS, **{"limit": 100} | options)))


def value_of(store: BaseStore, key: str, namespace: tuple[str, ...] = DOCS) -> Any:  # noqa: ANN401 - JSON
    """Return the value of an item, or None if there is no such item."""
    item = store.get(namespace, key)
    return None if item is None else item.value
