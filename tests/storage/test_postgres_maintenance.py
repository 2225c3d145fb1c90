"""Compaction and re-embedding in PostgreSQL while other sessions use the database."""

from collections.abc import Callable, Sequence

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from graph_store_kit.histories import node
from neurogated import MemoryConfig
from neurogated.config.groups import RuntimeSettings
from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import MemoryLockedError
from neurogated.session.administration import re_embed
from neurogated.storage.postgres_store import PostgresStore
from neurogated.testing import ManualClock
from tests.storage.test_postgres_store import HURRIED, names


class OtherEmbedder(HashEmbedder):
    """Another model, which calls a function at each use."""

    name = "other"
    used: Callable[[], None]

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.used()
        return super().embed_documents(texts)


def test_a_compaction_says_which_transaction_can_still_read_what_it_erased(url: str) -> None:
    with PostgresStore.open(url, config=HURRIED) as store:
        store.apply(GraphDelta(nodes=(MemoryNode("a", "secret"), MemoryNode("b", "text"))))
        with psycopg.connect(url) as old:
            old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            old.execute("SELECT 1")
            store.remove_node("a")
            with pytest.raises(MemoryLockedError, match=str(old.info.backend_pid)):
                store.compact()
            old.rollback()
        assert store.compact() == 0
        ((kept,),) = store.engine.fetch("SELECT count(*) FROM deltas")
        assert kept == 2
        assert names(store) == ["b"]


def test_no_graph_keeps_vectors_of_the_old_model(url: str, clock: ManualClock) -> None:
    refused: list[str] = []
    with PostgresStore.open(url) as store, PostgresStore.open(url, config=HURRIED) as other:
        store.bind_embedder("hash", HashEmbedder().dimension)
        vector = HashEmbedder().embed_documents(["text"])[0]
        for each in (store, other.in_namespace("early")):
            each.apply(GraphDelta(nodes=(MemoryNode("a", "text", vector),)))

        def write() -> None:
            if store.engine.writer is None:
                return
            for name in ("early", f"late {len(refused)}"):
                try:
                    other.in_namespace(name).apply(GraphDelta(nodes=(MemoryNode("b", "text", vector),)))
                except MemoryLockedError:
                    refused.append(name)

        embedder = OtherEmbedder()
        embedder.used = write
        assert re_embed(store, embedder, MemoryConfig(), at=clock()) == 2
        assert refused[:2] == ["early", "late 0"]
        assert store.namespaces() == ["default", "early"]
        assert {version.key[0] for version in store.embedded_versions()} == {1, 2}
    with PostgresStore.open(url) as store:
        assert store.check() == []


def test_the_statistics_of_the_planner_have_nothing_that_users_wrote(url: str) -> None:
    config = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    with PostgresStore.open(url, config=config) as store:
        for name in "abcdef":
            store.apply(GraphDelta(nodes=(node(name, 1.0, 2.0),), reason=f"secret {name}"))
        store.record_copy("secret")
        store.in_namespace("secret")
    with PostgresStore.open(url) as store:
        store.engine.change("ANALYZE")
        sampled = store.engine.fetch(
            "SELECT relname, s.attname FROM pg_stats s, pg_class c, pg_attribute a WHERE relname = tablename "
            "AND c.oid = attrelid AND a.attname = s.attname AND schemaname = current_schema() "
            "AND NOT atttypid = ANY('{int, bigint, boolean}'::regtype[])"
        )
        # The names of settings and random numbers are nobody's words.
        assert set(sampled) == {("settings", "name"), ("deltas", "token")}
