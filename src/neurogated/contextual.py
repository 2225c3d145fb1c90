"""`Contextual`: the calls by which an agent reads its memory for a task and records the outcome."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, Unpack, cast
from uuid import uuid4

from neurogated.context.blocks import without_blocks
from neurogated.context.builder import ContextBuilder, token_counter
from neurogated.context.echo import EchoFinder, EchoLinks
from neurogated.context.events import joined, links
from neurogated.context.model import CONTEXT_TOKENS, Context
from neurogated.core.arguments import names_arguments
from neurogated.core.delta import Access, GraphDelta
from neurogated.core.model import MemoryNode, checked_count
from neurogated.core.node_kind import EVENT
from neurogated.core.quoting import OPENING, OUTCOME, TokenCounter
from neurogated.core.references import MemoryRef, id_of, listed
from neurogated.core.scope import Scope
from neurogated.core.trace import RecalledMemory
from neurogated.errors import InputError
from neurogated.ingestion.contents import Details, Message, read_contents
from neurogated.ingestion.document import Document, Passage
from neurogated.ingestion.duplicates import DUPLICATE_WORDS
from neurogated.ingestion.spelling import same_spelling
from neurogated.plasticity.plasticity_engine import Outcome, strength_of
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.wired import Wired

__all__ = ["Contextual"]

# Tokens of the budget for each memory that is recalled for a context.
_CONTEXT_DEPTH = 8


class _Heard(NamedTuple):
    """A document that may have blocks of memories."""

    document: Document | None
    """The part to store; None if all of it is left out."""
    left_out: Sequence[str] = ()
    """The ids of the memories in the blocks that are left out."""
    quoted: Sequence[str] = ()
    """The ids of the memories in the blocks of a document that has nothing else."""


@names_arguments
class Contextual(Wired):
    """Base of `NeuroGraphMemory` with the calls of an agent at work."""

    def get_context(
        self,
        task: str,
        token_budget: int = CONTEXT_TOKENS,
        *,
        explain: bool = False,
        count_tokens: TokenCounter | None = None,
        **options: Unpack[RecallOptions],
    ) -> Context:
        """Return the memories that help with a task as text for a prompt, within a budget of tokens.

        Facts come first, then other memories by time, under headings with date and title. Memories that repeat others
        give way to new ones. No memory is cut. If every memory is longer than the budget, the text has the sentences
        of the best one that fit. The memories in the text count as accesses, as those of `recall` do.

        Args:
            task: the question or the work at hand, in words.
            token_budget: maximum tokens of the text.
            explain: fill `choices`, which says why each memory is there.
            count_tokens: returns the number of tokens of each of several texts for your model. Default: the tokenizer
                of the embedder, or an upper estimate if it has none.
            **options: the options of `recall`; `top_n` is the number of memories to choose from.

        Raises:
            InputError: the task is blank, the budget is less than 1, or an option is invalid.
        """
        if not checked_count("token_budget", token_budget):
            raise InputError(f"token_budget is {token_budget}, but must be at least 1")
        settings, embedder, as_of = self.config.metabolism, self._parts.embedder, options.get("as_of")
        given = dict(options)
        if given.get("top_n") is None:
            given["top_n"] = max(self.config.retrieval.candidates, token_budget // _CONTEXT_DEPTH)
        with self._runtime.work("recalling"):
            recall = self._with_questions(self.retriever.recall(task, **cast("RecallOptions", given)), as_of)
            builder = ContextBuilder(settings, embedder, count_tokens or token_counter(embedder))
            context = builder.build(recall, self.store.view(), token_budget, explain=explain)
        self._recalled(replace(recall, memories=context.memories), options)
        return context

    def record_event(
        self,
        event: str | Message,
        *,
        outcome: Outcome | None = None,
        used: MemoryRef | Iterable[MemoryRef] = (),
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        path: Sequence[str] = (),
        **details: Unpack[Details],
    ) -> list[str]:
        """Store a decision or an action of the agent with its outcome, in one change.

        The memory has the kind `event` and, as metadata, the `outcome`. ASSOC edges with the relation `used` lead from
        it to the memories of the same user that it used. The outcome strengthens or weakens these, and those without an
        owner, as `feedback` does, but none of other users. In a frozen memory, nothing is learned.

        Args:
            event: a text or a message. Each call stores a new event, unless you give an `id`.
            outcome: `success`, `fail`, or a number from 1 to -1; unknown when left out, and then nothing is learned.
            used: the memories that it used: a `Context`, a `Recall`, or one or several memories or ids.
            user_id: the user who owns it; without one, every user finds it.
            agent_id: the agent that it belongs to.
            session_id: the conversation that it is a part of.
            path: a place in your own tree.
            **details: title, metadata, times and more; see `Details`.

        Returns:
            The ids of its memories in order; a long text has several.

        Raises:
            UnknownIdError: a used id never was in the memory. Nothing is stored.
            InputError: the event cannot be stored, or the outcome is invalid.
        """
        if isinstance(event, Sequence) and not isinstance(event, str):
            raise InputError("an event is one text or message; record each event by a call of its own")
        strength = None if outcome is None else strength_of(outcome)
        details.setdefault("id", f"{EVENT}-{uuid4().hex}")
        details.setdefault("kind", EVENT)
        if strength is not None:
            details["metadata"] = {**(details.get("metadata") or {}), OUTCOME: strength}
        given = list(listed(used))
        ids = list(dict.fromkeys(map(id_of, given)))
        recalled = {one.id for one in given if isinstance(one, RecalledMemory)}
        there = self.store.get_nodes(self.store.view().present(ids, recalled), missing_ok=True)
        ids = [node.id for node in there if node.scope.user_id in {user_id, None}]
        learned = 0.0 if strength is None or self._runtime.is_frozen() else strength

        def join(delta: GraphDelta, fresh: Sequence[MemoryNode]) -> GraphDelta:
            first = [node for node in fresh if node.id == details["id"]]
            return self._with_outcome(delta, first[0], ids, recalled, learned) if first else delta

        documents = read_contents(event, scope=Scope(user_id, agent_id, session_id, path), **details)
        with self._runtime.work("indexing"):
            added = [node_id for stored in self._writer.joining(join).add(documents) for node_id in stored]
        self._told("added", added)
        if learned and ids:
            self._runtime.tell("learned", ids, learned)
        return added

    def _add_news(self, documents: Sequence[Document]) -> list[str]:
        """Store documents, and link the echoes among them; return the ids of all.

        With `skip_echoes`, blocks of memories are left out. A document of blocks only has the ids of these memories.
        """
        heard = [self._heard(document) for document in documents]
        news = [one.document for one in heard if one.document is not None]
        links = self._echo_links(heard)
        writer = self._writer.joining(links.added_to) if self.config.metabolism.find_echoes else self._writer
        with self._runtime.work("indexing"):
            stored = list(writer.add(news))
        if news:
            self._told("added", [node_id for ids in stored for node_id in ids])
        in_order, users = iter(stored), sorted({one.scope.user_id for one in documents if one.scope.user_id})
        added = [name for one in heard for name in (one.left_out if one.document is None else next(in_order))]
        echoed = [(given.passages[0].text, one.left_out) for given, one in zip(documents, heard, strict=True)]
        for text, repeated in (*(one for one in echoed if one[1]), *links.found):
            if not self._runtime.is_frozen():
                self._runtime.accesses.add(self.store, Access.of(repeated), *users[:1])
            self._runtime.tell("echoed", text, repeated)
        return added

    def _echo_links(self, heard: Sequence[_Heard]) -> EchoLinks:
        namespace, now = self.config.namespace, self._parts.clock()
        return EchoLinks(
            self.store,
            EchoFinder(self._parts.statement_judge, same_spelling, DUPLICATE_WORDS),
            lambda user_id: self._runtime.handed_out.ids(namespace, user_id, now),
            [(one.scope, one.passages[0], ids) for one, _, ids in heard if one is not None and ids],
        )

    def _heard(self, document: Document) -> _Heard:
        """Return the part of a document that is stored, and the ids of the memories that its blocks quote."""
        passage, scope = document.passages[0], document.scope
        if OPENING not in passage.text:
            return _Heard(document)
        ids = self._runtime.handed_out.ids(self.config.namespace, scope.user_id, self._parts.clock())
        nodes = self.store.get_nodes(ids, missing_ok=True)
        if not self.config.metabolism.skip_echoes:
            own = [one for one in nodes if one.scope.user_id == scope.user_id]
            text, quoted = without_blocks(passage.text, own)
            return _Heard(document, quoted=() if text else quoted)
        if self.config.read_only or document.id is not None:
            return _Heard(document)
        # A lost block could not be found in another session or after the memories have expired.
        owners = {scope, replace(scope, session_id=None)}
        text, quoted = without_blocks(
            passage.text, [one for one in nodes if one.scope in owners and one.expires_at is None]
        )
        if text and quoted:
            return _Heard(replace(document, passages=(replace(passage, text=text),)), quoted)
        # A message with details of its own is stored, for they would be lost.
        bare = Document((Passage(passage.text, role=passage.role),), scope=scope)
        return _Heard(None, quoted) if quoted and document == bare else _Heard(document)

    def _with_outcome(
        self, delta: GraphDelta, event: MemoryNode, used: Sequence[str], recalled: Collection[str], outcome: float
    ) -> GraphDelta:
        """Return the delta that writes an event, with its links and the changes by its outcome."""
        view = self.store.view()
        present = [one for one in view.present(used, recalled) if one not in delta.removed_nodes]
        changes = GraphDelta()
        if outcome:
            changes = self.plasticity.learned(view, present, outcome, associate=True, rated=True).delta
        edges = links(event, self.store.get_nodes(present), self.config.learning.assoc_weight)
        return joined(delta, changes, edges)
