"""The kit for stores of LangGraph over ours."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest
from langgraph.store.base import BaseStore, IndexConfig, TTLConfig

from neurogated import MemoryConfig
from neurogated.integrations.langgraph import NeuroStore
from neurogated.testing.langgraph import LangGraphStoreContract

CONFIG = MemoryConfig(embedding_name="hash")


@pytest.mark.slow
class TestNeuroStore(LangGraphStoreContract):
    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> AbstractContextManager[BaseStore]:
        return NeuroStore.from_conn_string(place, index=index, ttl=ttl, config=CONFIG)
