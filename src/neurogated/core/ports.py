"""What the rooms ask of each other, as Protocols; whoever fulfils one can be plugged in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Filter
from neurogated.core.judgements import CausalJudgement, QuestionJudgement
from neurogated.core.kernel import Kernel
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Neighbor, Vector
from neurogated.core.view import GraphView, Rows

__all__ = [
    "SCORE_TOLERANCE",
    "CausalJudge",
    "Embedder",
    "EntityFinder",
    "GraphStorePort",
    "KernelSource",
    "LanguageModel",
    "LexicalIndex",
    "Message",
    "QuestionJudge",
    "SupportsKernelBatch",
    "VectorIndex",
]

Message = Mapping[str, str]
"""A message to a language model: `role` (system, user or assistant) and `content`."""

SCORE_TOLERANCE = 1e-5
"""By how much a cosine or keyword score of a store may differ from the exact one, and between two of its methods.

Equal texts and equal vectors have equal scores.
"""


class VectorIndex(Protocol):
    """Nearest neighbours among vectors that are filed under integer keys."""

    @property
    def size(self) -> int:
        """Number of vectors."""

    @property
    def dimension(self) -> int | None:
        """Length of every vector, None while there has been none."""

    def check(self, vector: Vector, owner: str) -> None:
        """Raise InputError, which names `owner`, for a vector of another length."""

    def put(self, keys: Rows, vectors: NDArray[np.float32]) -> None:
        """Add or replace vectors."""

    def remove(self, keys: Rows) -> None:
        """Forget vectors."""

    def get(self, key: int) -> NDArray[np.float32] | None:
        """Return one vector, None if there is none."""

    def matches(self, key: int, vector: Vector) -> bool:
        """Return whether putting `vector` under `key` would change nothing."""

    def search(
        self, query: Vector, k: int, without: Rows = ..., among: Rows | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and cosines of the `k` best not among `without`, and of all that tie with the last of them.

        With `among`, ascending, they are the best of these.
        """

    def search_batch(
        self, queries: Sequence[Vector], k: int, without: Rows = ..., among: Rows | None = None
    ) -> list[tuple[Rows, NDArray[np.float64]]]:
        """Return what `search` returns for each query; together they take less time."""

    def similarities(self, query: Vector, keys: Rows) -> NDArray[np.float64]:
        """Return the cosine of each key's vector as `search` gives it, 0 where there is none."""


class LexicalIndex(Protocol):
    """Keyword search (BM25) among texts that are filed under integer keys."""

    def __len__(self) -> int:
        """Return the number of texts."""

    def put(self, keys: Rows, texts: Sequence[str], tags: Sequence[Collection[str]] = ...) -> None:
        """Add or replace texts and their tags."""

    def remove(self, keys: Rows) -> None:
        """Forget texts."""

    def search(
        self, query: str, k: int, without: Rows = ..., among: Rows | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and scores > 0 of the `k` best not among `without`, and all that tie with the last of them.

        With `among`, ascending, they are the best of these, which alone count in the statistics.
        """

    def scores(self, query: str, keys: Rows, among: Rows | None = None) -> NDArray[np.float64]:
        """Return the score of each key's text, 0 where there is none or it shares no keyword with the query."""


class GraphStorePort(Protocol):
    """One graph with its texts and vectors. `apply` is the only door for writes."""

    def apply(self, delta: GraphDelta) -> int:
        """Make the change whole or not at all; return its sequence number, counted from 1.

        Raises:
            InputError: something in the delta cannot be stored; nothing was changed.
            UnknownIdError: something to be changed or removed does not exist; nothing was changed.
        """

    def bind_embedder(self, name: str, dimension: int | None) -> None:
        """Record which embedder the vectors come from, or check that it is the recorded one.

        Args:
            name: the embedder's name.
            dimension: its dimension; None compares the names only, without loading a model, and records nothing.

        Raises:
            EmbedderMismatchError: the memory was built with another; both are named.
        """

    def pending(self) -> list[PendingTask]:
        """Return the judgements that wait to be made up, oldest first."""

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; uses are left out."""

    def journal(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield every delta numbered above `after`, oldest first, as far as compaction left it."""

    def as_of(self, moment: int | datetime) -> GraphStorePort:
        """Return the graph as it was known after a delta, given by its number or by a time, to be read only.

        0 is the empty graph. A time stands for the last delta that was made at it or before. Uses are no part of the
        past: nodes show those of the present, which outlive their removal. An unknown number raises InputError.
        """

    def view(
        self,
        *,
        valid_at: datetime | None = None,
        filters: Filter | None = None,
        around: Iterable[str] | None = None,
        hops: int = 1,
    ) -> GraphView:
        """Return a snapshot of the graph without what has expired; later writes do not show in it.

        Args:
            valid_at: leave out nodes and edges that did not hold in the world at this time.
            filters: which nodes searches on the view may find; they find the best of these.
            around: ids of nodes; the view then holds only nodes within `hops` edges of them, in either direction, and
                the edges between these.
            hops: how many edges.

        Raises:
            UnknownIdError: a node of `around` is not in the memory.
            EmbedderMismatchError: the memory has vectors of another embedder than the one it was opened with by now.
        """

    def find(
        self,
        filters: Filter | None = None,
        *,
        order_by: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[MemoryNode]:
        """Return the nodes that a filter admits and that have not expired.

        Args:
            filters: which nodes; all when left out.
            order_by: a field of MemoryNode that has an order, with a minus before it for the largest first; nodes
                without a value come last. The order in which they were added when left out.
            limit: how many at most.
            offset: how many of the first are passed over.

        Raises:
            InputError: the field has no order, or `limit` or `offset` is below 0.
        """

    def find_edges(self, relation: str, *, edge_type: EdgeType | None = None) -> list[MemoryEdge]:
        """Return the edges with a relation, in the order they were added."""

    def expired(self, now: datetime) -> list[str]:
        """Return the ids of the nodes that are to be forgotten by `now`, in the order they were added.

        Views and searches leave them out; `get_nodes`, `has_node`, `all_nodes` and `apply` know them until they are
        removed.
        """

    def has_node(self, node_id: str | UUID) -> bool:
        """Return whether the node exists."""

    def get_node(self, node_id: str | UUID) -> MemoryNode:
        """Return a node; raises UnknownIdError."""

    def get_nodes(self, node_ids: Sequence[str | UUID], *, missing_ok: bool = False) -> list[MemoryNode]:
        """Return nodes in the order of their ids, expired ones too; raises UnknownIdError unless `missing_ok`."""

    def get_edge(self, source_id: str | UUID, target_id: str | UUID, edge_type: EdgeType | None = None) -> MemoryEdge:
        """Return an edge; raises UnknownIdError, or AmbiguousEdgeError where the type is needed."""

    def get_neighbors(self, node_id: str | UUID) -> Sequence[Neighbor]:
        """Return the nodes that edges lead to, each with its edge."""

    def all_nodes(self) -> Iterator[MemoryNode]:
        """Yield every node in the order they were added, as they are now; some of them are in memory at a time."""

    def all_edges(self) -> Iterator[MemoryEdge]:
        """Yield every edge in the order they were added, as they are now; some of them are in memory at a time."""

    def nearest(self, query: Vector, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and cosines of the `k` most similar nodes, best first, ties in order of id.

        A store may overlook some of them, unless it `SupportsExactSearch`.

        Args:
            query: a vector.
            k: how many.
            view: a view of this store whose nodes alone count; all there are when left out.
        """

    def nearest_rows(
        self, queries: Sequence[Vector], k: int, view: GraphView
    ) -> list[tuple[Rows, NDArray[np.float64]]]:
        """Return for each query the rows in a view of this store, and cosines, of what `nearest` finds."""

    def similarities(self, query: Vector, view: GraphView, rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of nodes of a view of this store with the query, 0 for a node without embedding.

        It is that of `nearest_rows`, within `SCORE_TOLERANCE`.
        """

    def mean_vector(self, view: GraphView, rows: Rows) -> NDArray[np.float32]:
        """Return the mean of the vectors of nodes of a view of this store, each of length 1; empty if none has one."""

    def keyword_search(self, query: str, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and keyword scores > 0 of the `k` nodes that fit best, best first, ties in order of id.

        `view` as in `nearest`.
        """

    def keyword_rows(self, query: str, k: int, view: GraphView) -> tuple[Rows, NDArray[np.float64]]:
        """Return the rows in a view of this store, and scores, of what `keyword_search` finds."""

    def keyword_scores(self, query: str, view: GraphView, rows: Rows) -> NDArray[np.float64]:
        """Return the keyword score of nodes of a view of this store, 0 for a node that shares no keyword.

        It is that of `keyword_rows`, within `SCORE_TOLERANCE`.
        """

    def has_tags(self, tags: Sequence[str], view: GraphView, rows: Rows) -> NDArray[np.bool_]:
        """Return (tags, rows) whether nodes of a view of this store have each of `tags`; see `core.rendering`."""

    def existing_tags(self, tags: Iterable[str], view: GraphView | None = None) -> frozenset[str]:
        """Return those of `tags` that some node has; `view` as in `nearest`."""

    def nodes_with(self, terms: Collection[str], limit: int | None = None, view: GraphView | None = None) -> list[str]:
        """Return the nodes that have all of `terms`, expired nodes too, at most `limit`, in the order they were added.

        A term is a tag or a keyword of the text in the keyword index. With a view only the nodes count that its filter
        admits.
        """

    def rare_nodes_with(self, limits: Mapping[str, int], view: GraphView | None = None) -> dict[str, list[str]]:
        """Return what `nodes_with` says of each term, except for terms that more nodes have than their limit.

        Many terms are asked for together, and a common one costs next to nothing.
        """

    def tags_of(self, node_ids: Sequence[str]) -> list[frozenset[str]]:
        """Return each node's tags; an unknown id raises UnknownIdError."""

    def terms_of(self, node_ids: Sequence[str], at_most: int | None = None) -> list[frozenset[str]]:
        """Return each node's tags and keywords, or those that at most so many nodes have; errors as in `tags_of`."""

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder the vectors come from, None while there is none."""

    def vector_search(self, query_vec: Vector, k: int | None = None) -> list[tuple[MemoryNode, float]]:
        """Return the `k` most similar nodes with their cosines; `k` is `TOP_K_ANCHORS` when left out."""

    def remove_edge(self, edge: MemoryEdge | EdgeKey) -> None:
        """Remove one edge."""

    @property
    def closed(self) -> bool:
        """Whether the store can no longer be used."""

    def close(self) -> None:
        """Release what the store holds; using it afterwards raises MemoryClosedError."""


class Embedder(Protocol):
    """Texts to vectors; models may treat passages and questions differently."""

    @property
    def name(self) -> str:
        """What identifies the model: vectors of equal names can be compared."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length for passages."""

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length for questions."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how long each text is for the model; `count_words` where the model cannot say."""

    def close(self) -> None:
        """Release processes and memory."""


class KernelSource(Protocol):
    """Shapes a question into a kernel."""

    def generate(self, query: str, vector: NDArray[np.float32] | None = None) -> Kernel:
        """Return the kernel for `query`; `vector` is its embedding where the caller has it already."""


class LanguageModel(Protocol):
    """A language model that answers in JSON."""

    @property
    def name(self) -> str:
        """What identifies the model."""

    def infer_json(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer that fits the JSON schema, after at most one repair.

        Raises:
            LLMError: the model cannot be reached or its answer is not of use.
            BudgetExceededError: the calls or tokens that were allowed are used up.
        """

    def close(self) -> None:
        """Release connections and memory."""


@runtime_checkable
class SupportsKernelBatch(Protocol):
    """Ability of a source of kernels: to shape many questions together."""

    def generate_batch(self, queries: Sequence[str], vectors: NDArray[np.float32]) -> list[Kernel]:
        """Return what `generate` returns for each query and its embedding."""


class QuestionJudge(Protocol):
    """Tells what kind of question something is."""

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement:
        """Return kind, strength and reason; `vector` is the query's embedding where the caller has it already."""


class CausalJudge(Protocol):
    """Tells whether one text causes another."""

    def judge(self, first: str, second: str) -> CausalJudgement:
        """Return whether there is a causal link between two texts, in either direction."""


class EntityFinder(Protocol):
    """Finds what a text names: people, places, organisations, works."""

    def find(self, text: str) -> tuple[str, ...]:
        """Return names as they are written, each once, in order of appearance."""
