"""The contracts between packages, as Protocols; any class that fulfils one can be plugged in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from neurogated.core.delta import LATEST, GraphDelta, HistoryEntry, JournalEntry, PendingTask
from neurogated.core.filters import Filter
from neurogated.core.found import Said
from neurogated.core.judgements import CausalJudgement, QuestionJudgement
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.view import GraphView, Hits, Rows

if TYPE_CHECKING:
    from neurogated.core.conflicts import Conflict, Validity
    from neurogated.core.facts import Entry, Foreseen, Owner, Slot


Message = Mapping[str, str]
"""A message to a language model: `role` (system, user or assistant) and `content`."""

SCORE_TOLERANCE = 1e-5
"""The largest deviation of a store's cosine or keyword score from the exact one, or between two of its methods.

Equal texts and equal vectors have equal scores.
"""


class GraphStorePort(Protocol):
    """One graph with its texts and vectors. `apply` is the only way to write."""

    def apply(self, delta: GraphDelta) -> int:
        """Apply the delta atomically; return its sequence number, counted from 1.

        Raises:
            InputError: the store cannot represent some part of the delta; nothing was changed.
            UnknownIdError: a node or edge to change or remove does not exist; nothing was changed.
        """

    def bind_embedder(self, name: str, dimension: int | None) -> None:
        """Record the embedder of the vectors, or check that it is the recorded one.

        Without a dimension it compares only the names, loads no model and records nothing.

        Raises:
            EmbedderMismatchError: another embedder built the memory; the message names both.
        """

    def pending(self) -> list[PendingTask]:
        """Return the pending judgements, oldest first."""

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        """Return the deltas above `after` and up to `up_to` that changed more than accesses, oldest first."""

    def journal(self, after: int = 0, up_to: int = LATEST, *, about: str | None = None) -> Iterator[JournalEntry]:
        """Yield the deltas with these numbers, oldest first, except those that compaction erased; see `history`.

        With the id of a node, `about`, deltas that neither put nor removed it may be left out.
        """

    def as_of(self, moment: int | datetime) -> GraphStorePort:
        """Return the graph as it was known after a delta, read-only; the delta is given by its number or by a time.

        0 is the empty graph. A time selects the last delta before the first one made after it, so that a clock that
        goes back shows nothing too early. Accesses have no history: nodes show their present accesses, even if they
        were removed since. An unknown number raises InputError.
        """

    def view(self, *, valid_at: datetime | None = None, filters: Filter | None = None) -> GraphView:
        """Return the view of a new snapshot; see there."""

    def snapshot(
        self,
        view: GraphView | None = None,
        *,
        valid_at: datetime | None = None,
        filters: Filter | None = None,
        without: Collection[str] = (),
        whole: bool = False,
    ) -> Snapshot:
        """Return the present state of the graph, for searches and reads that all see the same.

        Args:
            view: a view of this store to search; a new one if omitted.
            valid_at: the new view omits nodes and edges that were not valid then.
            filters: searches find what it admits; the view and the spreading of activation are not restricted.
            without: the ids of nodes that the view omits, with their edges.
            whole: whether the new view shows expired nodes, too, and their edges.

        Raises:
            EmbedderMismatchError: the memory now has vectors of another embedder than the one it was opened with.
        """

    def get_nodes(self, node_ids: Sequence[str | UUID], *, missing_ok: bool = False) -> list[MemoryNode]:
        """Return nodes in the order of `node_ids`, also expired ones; raises UnknownIdError unless `missing_ok`."""

    def all_nodes(self) -> Iterator[MemoryNode]:
        """Yield every node in its present version, in the order they were added; reads them in batches."""

    def foreseen(self, delta: GraphDelta) -> Foreseen:
        """Return what would follow from a delta; nothing is written."""

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder of the vectors; None before the first."""

    @property
    def closed(self) -> bool:
        """Whether the store is closed."""

    def close(self) -> None:
        """Release all resources; any later use raises MemoryClosedError."""


class Snapshot(Protocol):
    """A state of a graph with a view of it, which later writes do not change.

    Searches find nodes that the view shows and its filter admits.
    """

    view: GraphView

    def restricted(self, filters: Filter | None, without: Collection[str] = ()) -> Snapshot:
        """Return the snapshot whose searches find only what a filter admits, and without the nodes `without`."""

    def nearest(self, queries: Sequence[Vector], k: int) -> list[Hits]:
        """Return for each query the rows of the `k` nearest neighbours and their cosines, best first, ties by id.

        Up to a thousand vectors are all compared; with more the search may be approximate.
        """

    def similarities(self, query: Vector, rows: Rows, missing: float = 0.0) -> NDArray[np.float64]:
        """Return the cosines of nodes with the query, within `SCORE_TOLERANCE`; `missing` without a vector."""

    def mean_vector(self, rows: Rows) -> NDArray[np.float32]:
        """Return the mean of the vectors of nodes, each of length 1; empty if none has one."""

    def keyword_search(self, query: str, k: int) -> Hits:
        """Return the rows of the `k` best nodes by keywords and their scores > 0, best first, ties by id."""

    def keyword_scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the keyword scores of nodes, within `SCORE_TOLERANCE`; 0 for a node that shares no keyword."""

    def has_tags(self, tags: Sequence[str], rows: Rows) -> NDArray[np.bool_]:
        """Return (tags, rows) bool: whether nodes have each of `tags`; see `core.rendering`."""

    def marks(self, tags: Sequence[str], rows: Rows) -> NDArray[np.uint8]:
        """Return for each node the bits of those of up to eight tags that it has; the first tag is the lowest bit.

        It is quick for the same tags as in the last call.
        """

    def existing_tags(self, tags: Iterable[str]) -> frozenset[str]:
        """Return those of `tags` that at least one node has."""

    def rows_with(self, terms: Collection[str], limit: int | None = None) -> Rows:
        """Return at most `limit` nodes that have all of `terms`, in the order they were added.

        A term is a tag or a keyword of the text in the keyword index.
        """

    def terms_of(self, rows: Rows, at_most: int | None = None) -> list[frozenset[str]]:
        """Return each node's tags and search terms, or those that at most `at_most` nodes have."""

    def find(self, *, order_by: str | None = None, limit: int | None = None, offset: int = 0) -> list[MemoryNode]:
        """Return the nodes that the view shows and its filter admits.

        Args:
            order_by: a sortable field of MemoryNode, or a minus and the field for descending order. Nodes without a
                value are last. If omitted, nodes are in the order they were added.
            limit: the largest number of nodes to return.
            offset: the number of nodes to skip first.

        Raises:
            InputError: the field is not sortable, or `limit` or `offset` is below 0.
        """

    def nodes(self, rows: Rows) -> list[MemoryNode]:
        """Return the nodes at rows of the view, without those that a compaction has erased since."""

    def edges(self, rows: Rows) -> list[MemoryEdge]:
        """Return the edges at rows of the view, stored ones first, without those that were removed since.

        A computed edge has a number in place of a row; see `core.view.Links`.
        """

    def expired(self, now: datetime) -> list[str]:
        """Return the ids of the nodes that have expired at `now`, in the order they were added; see `whole`."""

    def said(self, rows: Rows) -> dict[int, Said]:
        """Return when the nodes at rows were said, by row, without those erased since; it reads no whole nodes."""

    def entries(self, node_ids: Iterable[str]) -> list[tuple[Entry, Validity | None]]:
        """Return the stated facts and claims among nodes, with the valid times that conflicts leave them, if others."""

    def values_in(self, owner: Owner, slot: Slot) -> Sequence[Entry]:
        """Return the stated facts and claims in a slot of an owner by time; the slot as `slot_key` returns it."""

    def disputes(self, node_ids: Iterable[str] | None = None) -> list[Conflict]:
        """Return the conflicts between values of slots that nobody has answered, of some nodes or all.

        See `slots.table`.
        """

    def rare_rows_with(self, limits: Mapping[str, int]) -> dict[str, Rows]:
        """Return the nodes with each term, except terms that more nodes have than their limit."""


class Embedder(Protocol):
    """Maps texts to vectors; models may treat passages and questions differently."""

    @property
    def name(self) -> str:
        """The identity of the model: vectors of embedders with equal names are comparable."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length for passages.

        Raises:
            EmbeddingError: the model cannot be loaded or reached, or gives no finite vectors.
            MissingExtraError: a package of the model is not installed.
        """

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length for questions; raises as `embed_documents`."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of model tokens of each text; `count_words` if the model has no tokenizer."""

    def close(self) -> None:
        """Release processes and memory."""


class KernelSource(Protocol):
    """Computes the kernel of a question; `vector` is its embedding if the caller has it already."""

    def generate(self, query: str, vector: NDArray[np.float32] | None = None) -> Kernel: ...


class LanguageModel(Protocol):
    """A language model that answers in JSON."""

    @property
    def name(self) -> str:
        """The identity of the model."""

    def infer_json(
        self, messages: Sequence[Message], schema: Mapping[str, Any], *, accepts: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return an answer that fits the JSON schema, or the looser one that is accepted, after at most one repair.

        Raises:
            UnusableAnswerError: the answer is cut off, or does not fit.
            LLMError: the model cannot be reached.
            BudgetExceededError: the budget of calls or tokens is used up.
        """

    def close(self) -> None:
        """Release connections and memory."""


@runtime_checkable
class SupportsKernelBatch(Protocol):
    """Ability of a kernel source: to return the results of `generate` for many questions and their embeddings."""

    def generate_batch(self, queries: Sequence[str], vectors: NDArray[np.float32]) -> list[Kernel]: ...


class QuestionJudge(Protocol):
    """Classifies questions; `vector` is the query's embedding if the caller has it already."""

    def judge(self, query: str, vector: NDArray[np.float32] | None = None) -> QuestionJudgement: ...


class CausalJudge(Protocol):
    """Decides whether two texts have a causal link, in either direction."""

    def judge(self, first: str, second: str) -> CausalJudgement: ...


class EntityFinder(Protocol):
    """Finds names in a text: of people, places, organisations, works; as written, each once, in order."""

    def find(self, text: str) -> tuple[str, ...]: ...
