"""Writes of items: what embeds their texts, and the puts and deletions of a batch as one change of the graph."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig, PutOp
from langgraph.store.base.embed import EmbeddingsLambda, ensure_embeddings
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.errors import ConfigError, EmbeddingError, InputError
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.items import id_of, item_metadata, item_nodes, node_ids, number_of_texts
from neurogated.integrations.langgraph.items import texts_of
from neurogated.memory import NeuroGraphMemory
from neurogated.session import compose
from neurogated.session.session import Notice, Session
from neurogated.text.keywords import count_words
from neurogated.text.strings import composed

_MODEL_NAMES = ("model", "model_name", "model_id")


class LangChainEmbedder:
    """Embeds by an `Embeddings` of LangChain, or by a function, also an asynchronous one.

    Attributes:
        name: made of the class and the model, because memories compare embedders by name.
        dimension: the length of the vectors.
        embeddings: what it embeds by.
    """

    def __init__(self, embed: Any, dimension: int | None = None) -> None:  # noqa: ANN401 - as in LangGraph
        """Take what `IndexConfig.embed` may be; without a dimension, embed a text to learn it."""
        self.embeddings: Embeddings = ensure_embeddings(embed)
        self.dimension = dimension or len(self._vectors(["dimension"], query=True)[0])
        source = embed if isinstance(self.embeddings, EmbeddingsLambda) else type(self.embeddings)
        model = next((str(getattr(embed, name)) for name in _MODEL_NAMES if getattr(embed, name, None)), "")
        kind = getattr(source, "__qualname__", type(source).__qualname__)
        self.name = f"langchain:{source.__module__}.{kind}:{model}-{self.dimension}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length."""
        return self._checked(self._vectors(texts, query=False))

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length."""
        return self._checked(self._vectors(texts, query=True))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words of each text."""
        return count_words(texts)

    def close(self) -> None:
        """Do nothing: the embeddings belong to the caller."""

    def _vectors(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        embeddings, texts = self.embeddings, list(map(composed, texts))
        if isinstance(embeddings, EmbeddingsLambda) and not hasattr(embeddings, "func"):
            return asyncio.run(embeddings.aembed_documents(texts))
        return [embeddings.embed_query(text) for text in texts] if query else embeddings.embed_documents(texts)

    def _checked(self, vectors: Sequence[Sequence[float]]) -> NDArray[np.float32]:
        found = np.array(vectors, dtype=np.float32).reshape(len(vectors), -1)
        if len(found) and (found.shape[1] != self.dimension or not np.isfinite(found).all()):
            raise EmbeddingError(
                f"embedder {self.name!r} returned vectors of {found.shape[1]} numbers, but needs {self.dimension} "
                "finite ones; check `dims` of the index"
            )
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        units: NDArray[np.float32] = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
        return units


def embedder_of(index: IndexConfig | None) -> LangChainEmbedder | None:
    """Return the embedder that the configuration of an index names; None if it names none.

    Raises:
        ConfigError: `dims` is not a number from 1 on.
    """
    if index is None or index.get("embed") is None:
        return None
    dims: object = index.get("dims")
    if dims is not None and (not isinstance(dims, int) or dims < 1):
        raise ConfigError(f"dims of the index is {dims!r}, but must be the number of dimensions of the vectors")
    return LangChainEmbedder(index["embed"], dims)


RAM = ":memory:"


def checked_type(name: str, given: object, wanted: type, use: str) -> None:
    """Refuse an argument of another type by saying what it is; raises ConfigError."""
    if given is not None and not isinstance(given, wanted):
        raise ConfigError(f"{name} is a {type(given).__name__}, but must be a {wanted.__name__}; {use}")


def open_memory(conn: str, index: IndexConfig | None, config: MemoryConfig | None = None) -> NeuroGraphMemory:
    """Open a memory in the folder `conn`, or in RAM, with the embedder that the index names or else that of `config`.

    Raises:
        StorageError: the memory cannot be opened. Other errors are those of `NeuroGraphMemory`.
    """
    given = compose.load_config() if config is None else config
    chosen = given.replace(storage="memory") if conn == RAM else given.replace(storage="sqlite", save_dir=str(conn))
    embedder = embedder_of(index)
    return NeuroGraphMemory(chosen, parts=None if embedder is None else compose.build(chosen, embedder=embedder))


Sources = Callable[[], Mapping[str, Collection[str]]]
"""Returns the ids of the nodes from which items were derived, by the ids of the items; the write lock is held."""


class ItemWriter:
    """Puts and deletes items."""

    def __init__(self, session: Session, fields: Sequence[str], user_label: int | None) -> None:
        """Take the graph, the paths of the texts to index, and the position of the user in a namespace."""
        self._session, self._fields, self._user_label = session, fields, user_label
        self._chunker = Chunker.of(session.config.indexing, session.parts.embedder)

    def write(self, ops: Sequence[PutOp], sources: Sources | None = None) -> int:
        """Write the last operation of each key in one change; return how many items it replaced or deleted.

        If `sources` are given, items without an entry are left out, and the others go with the nodes of theirs.
        """
        session, last = self._session, {id_of(op.namespace, op.key): op for op in ops}
        with session.runtime.work("putting items"):
            drafts = self._drafts(last)
            with session.exclusively():
                known = None if sources is None else sources()
                if known is not None:
                    drafts = {name: nodes for name, nodes in drafts.items() if name in known}
                reader, now = session.writer.present(), session.now()
                # An item that has expired is gone, and the next one with its key is new.
                old = {node.id: node for node in reader.nodes(reader.view.known_rows(list(drafts)))}
                put, removed = list[MemoryNode](), list[str]()
                for place, (name, nodes) in enumerate(drafts.items()):
                    before = old.get(name)
                    # No two items of a batch have the same time, so that lists have one order.
                    put += (_dated(node, before, now + place) for node in nodes)
                    if before is not None:
                        removed += node_ids(name, len(nodes), number_of_texts(before.metadata))
                if put or removed:
                    reason = "put items" if put else "delete items"
                    derived = {node.id: known[name] for name in drafts for node in drafts[name]} if known else {}
                    session.writer.put(put, removed, reader, reason=reason, derived=derived)
        # A callback may be slow, or write itself.
        if removed:
            session.notify(Notice("deleted", (removed,)))
        if put:
            session.notify(Notice("added", ([node.id for node in put],), has_facts=False))
        return len(old)

    def _drafts(self, ops: Mapping[str, PutOp]) -> dict[str, list[MemoryNode]]:
        """Return the nodes of items, with vectors, as if none of the items existed; none for an item to delete."""
        split, embedder = self._chunker.split, self._session.parts.embedder
        texts = {
            name: [chunk for text in texts_of(op, self._fields) for chunk in split(text)] for name, op in ops.items()
        }
        distinct = list(dict.fromkeys(text for chunks in texts.values() for text in chunks))
        vectors = dict(zip(distinct, embedder.embed_documents(distinct), strict=True)) if distinct else {}
        now, place, drafts = self._session.clock(), self._user_label, dict[str, list[MemoryNode]]()
        for name, op in ops.items():
            if op.value is None:
                drafts[name] = []
                continue
            namespace, most = op.namespace, len(op.namespace)
            if place is not None and not -most <= place < most:
                raise InputError(
                    f"the namespace {namespace} has no label at user_label={place}, so its items would be everybody's; "
                    "give it that label, or put them by a store without user_label"
                )
            scope = Scope(user_id=self._session.of_user(None if place is None else namespace[place]), path=namespace)
            # A lifetime that ends after the last year of the calendar never does.
            end = None
            if op.ttl is not None:
                with contextlib.suppress(OverflowError):
                    end = now + timedelta(minutes=op.ttl)
            times: dict[str, Any] = {"created_at": now, "last_accessed": now, "expires_at": end}
            metadata = item_metadata(op.key, op.value, ttl=op.ttl)
            nodes = item_nodes(name, texts[name], vectors, metadata, scope=scope, **times)
            drafts[name] = self._session.writer.read(nodes)
        return drafts


def _dated(node: MemoryNode, old: MemoryNode | None, now: int) -> MemoryNode:
    """Return a node of an item with its times; the next version of an item keeps its first time and its accesses."""
    if old is not None:
        now = max(now, old.metadata["updated_at"] + 1)
    updated = from_micros(now)
    metadata = {**node.metadata, "updated_at": now} if node.metadata else {}
    if old is None:
        return node.changed(metadata=metadata, created_at=updated, energy_at=updated, charged_at=updated)
    return node.changed(metadata=metadata, created_at=old.created_at, energy_at=updated).with_accesses_of(old)
