"""`NeuroGraphMemory`: the facade, which holds the components of a memory and has no algorithm; and its coroutines."""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import functools
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence, Sized
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, Never, ParamSpec, Self, TypeVar, Unpack, cast
from uuid import UUID

from neurogated.components.admin import Admin
from neurogated.components.conflicts import Conflicts, Duplicates
from neurogated.components.context import AgentContext
from neurogated.components.energy import Energy
from neurogated.components.expressions import call_expression
from neurogated.components.facts import Facts
from neurogated.components.graph import Graph
from neurogated.components.history import History
from neurogated.components.learning import Learning
from neurogated.components.manifest import Manifest
from neurogated.components.policies import Policies, run_policies
from neurogated.components.texts import Page, Recalls, Texts, listed_by, page_of
from neurogated.config.memory_config import MemoryConfig
from neurogated.context.model import CONTEXT_TOKENS, Answer, Context
from neurogated.core.contexts import work
from neurogated.core.delta import HistoryEntry
from neurogated.core.filters import FilterOptions, filter_of
from neurogated.core.habits import explains_habits, renamed
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope, UserChoice
from neurogated.core.tokens import TokenCounter
from neurogated.core.trace import Feedback, MemoryRef, Recall
from neurogated.core.view import GraphView
from neurogated.errors import ConfigError, UnknownIdError
from neurogated.ingestion.contents import AddReport, Content, Message, read_contents
from neurogated.ingestion.document import Details, Document, read_documents
from neurogated.ingestion.drafts import Changes, Revision
from neurogated.llm.base import BaseLLM
from neurogated.plasticity.plasticity_engine import Outcome
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.session import compose
from neurogated.session.runtime import Event, Parts
from neurogated.session.session import Session
from neurogated.sexpr import check
from neurogated.text.strings import repaired_text

if TYPE_CHECKING:
    from neurogated.storage.graph_store import GraphStore

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")


@explains_habits
class NeuroGraphMemory:
    """A memory: add texts and messages, and recall them by questions.

    When a call returns, its writes are on disk. Use it as a context manager, or call `close`.

    Attributes:
        config: the settings.
        store: the graph; that of the parts, if they bring another kind of store than a `GraphStore`.
        retriever: recalls without counting accesses.
        plasticity: learns from accesses and feedback.
        facts, conflicts, duplicates, energy, context, learning, manifest, history, admin, graph, policies: the calls
            of one feature each.
        aio: the same calls as coroutines.
    """

    def __init__(
        self,
        config: MemoryConfig | str | os.PathLike[str] | None = None,
        *,
        parts: Parts | None = None,
        session: Session | None = None,
        llm: BaseLLM | None = None,
        **settings: Never,
    ) -> None:
        """Open the memory that `config` describes.

        Args:
            config: the settings, or the folder of the memory; from the environment and the defaults when left out.
            parts: built parts; built from `config` when left out.
            session: an open session, in place of both.
            llm: a language model of your own, with the limits of the settings, such as
                `integrations.langchain.ChatModel`.
            **settings: none; settings are those of `MemoryConfig`.

        Raises:
            StorageError: the memory cannot be opened; see its subclasses.
            EmbedderMismatchError: the memory was built with another embedder.
            ConfigError: a setting does not fit.
        """
        if not isinstance(llm, BaseLLM | None):
            raise TypeError(
                "llm=… is a setting of MemoryConfig, or a BaseLLM; open NeuroGraphMemory(MemoryConfig(llm=…))"
            )
        if settings:
            # This raises for a name that is no setting.
            MemoryConfig(**settings)
            given = ", ".join(f"{name}=…" for name in settings)
            raise TypeError(f"{given} is a setting of MemoryConfig; open NeuroGraphMemory(MemoryConfig({given}))")
        if isinstance(config, str | os.PathLike):
            config = MemoryConfig(save_dir=os.fspath(config))
        if not isinstance(config, MemoryConfig | None):
            raise ConfigError(
                f"the config is {config!r}, but must be a folder or a MemoryConfig, as in MemoryConfig(save_dir=…)"
            )
        self._is_owner = session is None
        if session is None:
            session = compose.open_session(config or compose.load_config(), parts, (run_policies,), llm)
        self.session = session
        self._parts = session.parts  # for scripts that compare with plain search by the same embedder
        self.config, self.store = session.config, cast("GraphStore", session.store)
        self.retriever, self.plasticity = session.retriever, session.plasticity
        self._texts, self._recalls = Texts(session), Recalls(session)
        self.facts, self.context = Facts(session), AgentContext(session)
        self.conflicts, self.duplicates = Conflicts(session), Duplicates(session)
        self.energy, self.learning = Energy(session), Learning(session)
        self.manifest, self.history, self.admin = Manifest(session), History(session), Admin(session)
        self.graph, self.policies = Graph(session), Policies(session)
        if self._is_owner:
            self.learning.consolidate_in_background()

    @property
    def aio(self) -> AsyncNeuroGraphMemory:
        """This memory with coroutines."""
        return AsyncNeuroGraphMemory(memory=self)

    def add(self, content: Content, **details: Unpack[Details]) -> AddReport:
        """Remember a text, a message, or a list of them.

        With a `session_id` it is a turn, which follows the earlier turns of its session by `timestamp` and then by
        arrival; the same words said twice are two memories. Without one it is a document; adding the same document
        again adds no memory, and new details replace old ones. A message of the assistant that repeats a memory which
        a recall handed out lately is linked to it, and counts as its use.

        Args:
            content: a text, or a message such as `{"role": "user", "content": "I moved to Lyon."}`, which may also
                have `name`, `timestamp`, `id` and `metadata`; or a list of either. Messages of other frameworks are
                read, too. One that cannot be read costs no other: it is an InputError only if nothing can be stored.
            **details: its owner, title, times and more; see `Details`. Without `user_id`, every user finds it.

        Returns:
            The ids of its memories in order, or those that a message quotes which `metabolism.echoes=skip` leaves out.
            `skipped` counts blank messages, `refused` others that are left out; `notes` tells why.
        """
        with work():
            contents = read_contents(content, details, self.session.writer.check_document)
            return self._texts.noted(contents).report(self._texts.add(contents))

    def add_document(self, text: str, **details: Unpack[Details]) -> builtins.list[str]:
        """Remember a text of any length, cut into chunks of whole sentences; see `Details`. Return their ids in order.

        The same text, title and scope give the same ids, and new details replace old ones. After a failure, add it
        again to store the rest.
        """
        (ids,) = self._texts.store([Document.from_text(text, **details)])
        return ids

    def add_documents(
        self, documents: Iterable[str | Document | Mapping[str, Any]], *, progress: bool | None = None
    ) -> builtins.list[builtins.list[str]]:
        """Remember many documents, embedded and written in batches; return the node ids of each, in order.

        Args:
            documents: texts, `Document`s, or mappings with `text` and the arguments of `add_document`.
            progress: show a progress bar; None shows it if the output is a terminal.
        """
        total = len(documents) if isinstance(documents, Sized) else None
        return self._texts.store(read_documents(documents), total=total, progress=progress)

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Return the memories that `query` recalls, with scores, their parts, and the paths of the activation.

        With `user_id` a recall finds the memories of this user and those without an owner. Without it, a recall finds
        only memories without an owner. Recalls with `as_of` or `valid_at` do not count as accesses. Raises InputError
        if the query is blank, or an option of `RecallOptions` is invalid.
        """
        (recall,) = self._recalls.answer([query], options)
        return recall

    def retrieve(self, query: str, **options: Unpack[RecallOptions]) -> builtins.list[str]:
        """Return the contents of the memories that `query` recalls, best first; see `recall`."""
        return [memory.content for memory in self.recall(query, **options)]

    def retrieve_batch(
        self, queries: Sequence[str], **options: Unpack[RecallOptions]
    ) -> builtins.list[builtins.list[str]]:
        """Return the contents that each query recalls; all queries are embedded in one batch. See `recall`."""
        return [[memory.content for memory in recall] for recall in self._recalls.answer(queries, options)]

    def get(self, node_id: str | UUID) -> MemoryNode:
        """Return a memory; raises UnknownIdError if no memory has this id, or if it has expired."""
        found = self.store.get_nodes([node_id])[0]
        if found.has_expired(self.session.clock()):
            raise UnknownIdError(f"the memory {found.id!r} has expired")
        return found

    def list(self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[FilterOptions]) -> Page:
        """Return at most `limit` memories in the order they were added, after the `cursor` of the page before."""
        return page_of(self.session, limit, cursor, filters)

    def find(
        self,
        *,
        order_by: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        **filters: Unpack[FilterOptions],
    ) -> builtins.list[MemoryNode]:
        """Return at most `limit` memories after the first `offset`, in the order they were added; see `FilterOptions`.

        `order_by` is a field of MemoryNode such as `importance`; `-importance` sorts the largest first.
        """
        return self.store.snapshot(filters=listed_by(self.session, filters)).find(
            order_by=order_by, limit=limit, offset=offset
        )

    def count(self, **filters: Unpack[FilterOptions]) -> int:
        """Return the number of memories that `list` returns with these filters."""
        return int(self.store.view(filters=listed_by(self.session, filters)).admitted_nodes().size)

    def view(self, **filters: Unpack[FilterOptions]) -> GraphView:
        """Return a snapshot of the graph in columns, in which searches find only the memories that filters admit."""
        self.session.of_user(filters.get("user_id"))
        return self.store.view(filters=filter_of(filters))

    def update(self, node_id: str | UUID, content: str | None = None, **changes: Unpack[Changes]) -> MemoryNode:
        """Write a new version of a memory; the history keeps the old one until `admin.compact(history=True)`.

        Edges that follow from its text are rebuilt; SEQ and ASSOC edges stay. Fields left out stay; see `Changes`. A
        new text is stored as one chunk. The id you gave to a long text names all its memories.

        Raises:
            UnknownIdError: the id is not in the memory.
            InputError: a value cannot be stored. Nothing is changed.
        """
        return self._texts.update(node_id, Revision(content, self.config.zone, **changes))

    def delete(self, ids: str | UUID | Iterable[str | UUID] | None = None, **filters: Unpack[FilterOptions]) -> int:
        """Delete memories with their edges and with all data derived from their texts; all or none.

        Deleted memories stay in the history until `admin.compact`. Filters such as `user_id` also empty the caches. A
        filter by user never admits memories without an owner. Raises UnknownIdError if an id never was in the memory,
        or a compaction erased it. Nothing is deleted.

        Args:
            ids: one id or several; ids deleted before are skipped and logged. The id you gave to a long text names all
                its memories.
            **filters: delete the memories that they admit instead; see `FilterOptions`.

        Returns how many memories were deleted.
        """
        return self._texts.delete(ids, filters)

    def delete_document(self, document_id: str | UUID) -> int:
        """Delete all memories of a text; return their number.

        Raises UnknownIdError if there never was such a text.

        Args:
            document_id: your own id of it, `found.document_id` of its memories, or the id of any of them. If these
                memories were deleted before, the number is 0.
        """
        return self._texts.delete_document(str(document_id))

    def feedback(self, relevant_node_ids: MemoryRef | Iterable[MemoryRef], outcome: Outcome = "success") -> Feedback:
        """Learn from an outcome: success strengthens the edges among these memories (LTP), failure weakens them.

        Their energy and importance change likewise. After success, each memory gets ASSOC edges to the next ones. A
        frozen memory learns nothing. Raises UnknownIdError, and changes nothing, if an id never was in the memory, or a
        compaction erased it.

        Args:
            relevant_node_ids: a `Recall`, one or several memories, nodes or ids.
            outcome: `success`, `fail`, or a number from 1 to -1.

        Returns the number of edges that were strengthened, weakened or added, and the ids that were skipped as gone.
        """
        return self.learning.feedback(relevant_node_ids, outcome)

    @renamed(task="query")
    def get_context(
        self,
        query: str,
        token_budget: int = CONTEXT_TOKENS,
        *,
        explain: bool = False,
        count_tokens: TokenCounter | None = None,
        **options: Unpack[RecallOptions],
    ) -> Context:
        """Return the memories that help with a task as text for a prompt, within a budget of tokens.

        Each line quotes a memory with its speaker or role and its day; the lines are in order of time. The best
        memories have the budget first: one that does not fit is cut to its best sentences. A memory stands there with
        what its speaker said later about the same thing. Stated facts, and then summaries, have only the tokens that
        are left. The memories in the text count as accesses.

        Args:
            query: the question or the work at hand, in words.
            token_budget: maximum tokens of the text.
            explain: fill `choices`, which says why each memory is there.
            count_tokens: returns the number of tokens of each of several texts for your model. Default:
                `neurogated.core.tokens.prompt_tokens`, a count on the safe side for any model.
            **options: the options of `recall`; `top_n` is the number of memories to choose from. The text has as many
                of them as fit, also of other things, unless `min_score` leaves them out.
        """
        return self.context.build(query, token_budget, explain=explain, count_tokens=count_tokens, **options)

    def record_event(
        self,
        event: str | Message,
        *,
        outcome: Outcome | None = None,
        used: MemoryRef | Iterable[MemoryRef] = (),
        **details: Unpack[Details],
    ) -> builtins.list[str]:
        """Store a decision or an action of the agent with its outcome, in one change.

        The memory has the kind `event` and the outcome in `found.outcome`. ASSOC edges with the relation `used` lead to
        the memories that it used, of the same user or of none. The outcome changes them as `feedback` does. Raises
        UnknownIdError if a used id never was in the memory. Nothing is stored.

        Args:
            event: a text or a message. Each call stores a new event, unless you give an `id`.
            outcome: `success`, `fail`, or a number from 1 to -1; nothing is learned without one.
            used: the memories that it used: a `Context`, a `Recall`, or one or several memories or ids.
            **details: its owner, title, times and more; see `Details`.
        """
        return self.context.record(event, details, outcome=outcome, used=used)

    def answer(self, question: str | Recall, **options: Unpack[RecallOptions]) -> Answer:
        """Return the language model's short answer to a question, with the ids of the memories that say so.

        It is "I don't know" if no memory was recalled, or if the memories do not say it.

        Args:
            question: the question, or its recall.
            options: those of the recall of a question, such as `user_id`. `min_confidence` is 0.2 when left out, so
                that the model is not asked about what was hardly said; 0 always asks it.

        Raises:
            ConfigError: no language model is configured.
            LLMError: it failed.
        """
        return self.context.answer(question, options)

    def execute(
        self,
        expression: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        path: Sequence[str] = (),
        read_only: bool = False,
    ) -> Any:  # noqa: ANN401 - a JSON value
        """Run one expression such as `(recall "Where does Ana live?" 5)`, and return JSON values.

        Args:
            expression: an operation with its arguments; `sexpr.OPERATIONS` has them all.
            user_id: the user whose memories it sees and changes, with those of nobody; without one, only the latter.
            agent_id: the agent.
            session_id: the session.
            path: the position in your tree of scopes.
            read_only: refuse operations that write.

        Raises:
            ExpressionError: it does not fit; names line and column. Nothing is changed.
            UnknownIdError: an id is not in this scope.
            InputError: it writes although only reading is allowed, or a value cannot be stored.
        """
        call = check(repaired_text("the expression", expression))
        return call_expression(self.session, call, Scope(user_id, agent_id, session_id, path), read_only=read_only)

    def maintenance(self, now: datetime | None = None) -> int:
        """Remove expired memories, and decay idle edges (LTD); SIM edges never decay.

        In a frozen memory nothing decays. `now` is the clock's time when left out. Return the number of removed edges.
        """
        return self.learning.maintain(now)

    def flush(self) -> int:
        """Write the uses of memories, and wait until the language model has read the new and the parked memories.

        Return how many still wait, because the model failed; see `learning.parked`.
        """
        self.learning.flush()
        return self.learning.resume()[1]

    def usage(self) -> dict[str, int | float]:
        """Return the calls, tokens and cache hits of the language model since the memory was opened; {} without one.

        Parts of answers that were dropped, and memories that are parked, are counted by reason; see `admin.stats`.
        """
        return dict(self.admin.stats()["language model use"])

    def freeze(self, *, lasting: bool = True) -> None:
        """Stop learning until `learning.unfreeze`; see `learning.freeze`."""
        self.learning.freeze(lasting=lasting)

    def undo(self, to: int | None = None, *, user_id: UserChoice = None) -> HistoryEntry | None:
        """Take back the last thing that was done, or every change after the delta number `to`.

        The last thing may be a feedback, an association, an outcome of a conflict, a signal, and any call that writes.
        The memory itself does `maintenance`, ticks, judgements of models and background consolidation: these stay,
        except what was computed from a memory that an undo takes back, or what a policy did because it was added. A
        second `undo` takes back the change before it, not the undo. Judgements that were pending before a change do not
        become pending again. Raises InputError if the delta does not exist, a compaction erased history that the undo
        needs, the last thing cannot be taken back for this user alone, because it also changed memories without an
        owner, or the user did nothing in the last 10,000 changes.

        Args:
            to: a `sequence` of `history.list`, or 0 for the empty memory; weights return to the last bit. The number
                before an undo takes the undo back.
            user_id: take back the last thing that was done to this user's memories, and nothing of other users. Without
                it, these are the memories without an owner, as for a recall, or all if no memory ever had an owner.

        Returns the change that the undo made, with the `memories` that it wrote or deleted; None if nothing changed.
        """
        return self.history.undo(to, user_id=user_id)

    def on(self, event: Event, callback: Callable[..., None]) -> Callable[[], None]:
        """Call `callback` after each event in any namespace; return a function that unregisters it.

        Args:
            event: `added` (with the ids), `updated` (the new version), `deleted` (the ids), `recalled` (the `Recall`),
                `learned` (the ids, and the outcome from -1 to 1), `conflict` (a new `Conflict`) or `echoed` (a text
                that repeats memories, and their ids).
            callback: runs in the thread of the write or recall; its errors are logged.
        """
        return self.session.runtime.register(event, callback)

    def in_namespace(self, namespace: str) -> Self:
        """Return another graph of this memory, created if there is none. It is valid until this memory is closed.

        Raises ConfigError if the store has a single graph only.
        """
        return type(self)(session=self.session.in_namespace(namespace))

    def close(self) -> None:
        """Write the accesses of all namespaces; a memory that owns its file and models also closes them."""
        self.session.close(owns_parts=self._is_owner and not self.session.runtime.is_inherited)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def awaitable(call: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the coroutine method, of a class with `memory` and `run`, that has the parameters of a method."""

    @functools.wraps(call)
    async def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:  # noqa: ANN401
        answer: T = await self.run(call, self.memory, *args, **kwargs)
        return answer

    return run


async def in_thread(session: Session, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call in a thread of the memory, which runs 64 calls at once.

    Raises MemoryClosedError if the memory is closed. Other errors are those of the call.
    """
    if session.store.closed:
        session.store.view()  # raises the error that says why
    # The loop's default executor has few threads, which other code shares.
    waiting = [functools.partial(contextvars.copy_context().run, call, *args, **kwargs)]
    del args, kwargs
    # The thread removes the call from the list, so that it holds no reference to the memory after the answer.
    return await asyncio.get_running_loop().run_in_executor(session.runtime.threads, lambda: waiting.pop()())  # noqa: PLW0108


@explains_habits
class AsyncNeuroGraphMemory:
    """A memory with coroutines: each call of `NeuroGraphMemory` under the same name, in a thread of the memory.

    Attributes:
        memory: the memory; `run` awaits the calls of its components.
    """

    def __init__(
        self, config: MemoryConfig | str | os.PathLike[str] | None = None, *, memory: NeuroGraphMemory | None = None
    ) -> None:
        """Open the memory that `config` describes, or take one."""
        self.memory = NeuroGraphMemory(config) if memory is None else memory

    async def run(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Await any call of the memory, as in `await memory.aio.run(memory.conflicts.list, user_id="ana")`."""
        return await in_thread(self.memory.session, call, *args, **kwargs)

    add = awaitable(NeuroGraphMemory.add)
    add_document = awaitable(NeuroGraphMemory.add_document)
    add_documents = awaitable(NeuroGraphMemory.add_documents)
    recall = awaitable(NeuroGraphMemory.recall)
    retrieve = awaitable(NeuroGraphMemory.retrieve)
    retrieve_batch = awaitable(NeuroGraphMemory.retrieve_batch)
    get = awaitable(NeuroGraphMemory.get)
    list = awaitable(NeuroGraphMemory.list)
    count = awaitable(NeuroGraphMemory.count)
    update = awaitable(NeuroGraphMemory.update)
    delete = awaitable(NeuroGraphMemory.delete)
    feedback = awaitable(NeuroGraphMemory.feedback)
    get_context = awaitable(NeuroGraphMemory.get_context)
    record_event = awaitable(NeuroGraphMemory.record_event)
    answer = awaitable(NeuroGraphMemory.answer)
    execute = awaitable(NeuroGraphMemory.execute)
    maintenance = awaitable(NeuroGraphMemory.maintenance)
    flush = awaitable(NeuroGraphMemory.flush)
    usage = awaitable(NeuroGraphMemory.usage)
    undo = awaitable(NeuroGraphMemory.undo)

    async def close(self) -> None:
        """Close the memory, in a thread of the event loop: the threads of the memory end."""
        await asyncio.to_thread(self.memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
