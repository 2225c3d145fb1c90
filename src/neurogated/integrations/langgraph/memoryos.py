"""`MemoryOS`: a conversation memory in three tiers, which is a store of LangGraph."""

import asyncio
import json
import secrets
import threading
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langgraph.store.base import BaseStore, Op, PutOp, Result

from neurogated.core.clock import Clock, Moment, checked_moment, utc_now
from neurogated.core.files import replace_file
from neurogated.dialogue.analysts import Analyst, ModelAnalyst
from neurogated.dialogue.long_term import asked_dimensions, own_trait, standing_knowledge
from neurogated.dialogue.model import (
    BY_USER,
    KNOWLEDGE,
    PAGE,
    TRAIT,
    DialoguePage,
    Record,
    escaped,
    settings_of,
)
from neurogated.dialogue.retriever import DialogueAnswer, search
from neurogated.dialogue.updater import DialogueParts, PageBacklog, Updater
from neurogated.errors import ConfigError, InputError
from neurogated.integrations.langchain import ChatModel
from neurogated.integrations.langgraph.dialogue import PAGES, ROOT, GraphDialogue, StoreDialogue
from neurogated.integrations.langgraph.store import AsyncNeuroStore, NeuroStore
from neurogated.integrations.langgraph.writing import RAM, checked_type, embedder_of, open_memory
from neurogated.llm.structured import StructuredLLM
from neurogated.llm.wrappers import LimitedLLM
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.session import compose
from neurogated.text.strings import checked_name, composed, repaired_text

_USERS, _NAME = (f"{ROOT}-users",), "name"
"""The namespace of the users, each below it, and the key of their names."""
_SEARCHES = 8
"""Threads of searches."""


class MemoryOS(BaseStore):
    """Remembers what users and assistants say: short-term, mid-term and long-term memory.

    A saved pair is one page, written once. The last pages are the short-term memory. In the background, earlier pages
    get into segments by topic, and hot segments teach the long-term memory: knowledge, and a profile of the user. As a
    store of LangGraph it is the store below.

    Attributes:
        store: where everything is.
        settings: see `DialogueSettings`.
    """

    def __init__(
        self,
        llm: BaseChatModel | None = None,
        embedding_fuc: Embeddings | None = None,
        storage_dir: str | Path | None = None,
        *,
        embedding: Embeddings | None = None,
        store: BaseStore | None = None,
        preset: str = "code",
        sensitive: Collection[str] = (),
        max_llm_calls: int | None = None,
        llm_concurrency: int = 4,
        clock: Clock = utc_now,
        **settings: float,
    ) -> None:
        """Open a memory.

        Args:
            llm: a chat model of LangChain, which describes pages and reads traits and knowledge. Without one, rules
                describe pages, and profile and knowledge stay empty.
            embedding_fuc: embeddings of LangChain, also as `embedding`; the bundled model without them.
            embedding: see `embedding_fuc`.
            storage_dir: the folder of a new store; without it, and without a `store`, everything is in RAM.
            store: any store of LangGraph. Ours brings its memory and embedder; searches are recalls of this memory.
            preset: `code` or `paper`, for MemoryOS's constants.
            sensitive: topics that profiles may have: `health`, `faith`, `politics`, `personality`.
            max_llm_calls: the budget of calls; work beyond it waits for the next opening.
            llm_concurrency: calls at once.
            clock: the time.
            **settings: see `DialogueSettings`.

        Raises:
            ConfigError: a setting does not fit.
        """
        super().__init__()
        checked_type("llm", llm, Runnable, "give a chat model of LangChain, a folder as storage_dir, a store as store")
        below: Any = store.store if isinstance(store, AsyncNeuroStore) else store
        checked_type("store", below, BaseStore, "give a folder as storage_dir, and a memory as NeuroStore(memory)")
        given = [one for one in (embedding, embedding_fuc) if one is not None]
        if len(given) > 1 or (below and storage_dir) or (given and isinstance(below, NeuroStore)):
            raise ConfigError(
                "give one of `embedding`, `embedding_fuc` and a NeuroStore; one of `store` and `storage_dir`"
            )
        self.settings, self._users = settings_of(preset, settings), set[str]()
        index: Any = {"embed": given[0]} if given else None
        self._owned = open_memory(RAM if storage_dir is None else str(storage_dir), index) if below is None else None
        self._kept = _kept_in(below, index) if self._owned is None else GraphDialogue(self._owned)
        self.store: BaseStore = below or self._kept.store
        self._clock, self._instance, self._lock, self._last = clock, secrets.token_hex(4), threading.Lock(), 0
        self._calls = ThreadPoolExecutor(llm_concurrency, "memoryos-calls")
        self._searches = ThreadPoolExecutor(_SEARCHES, "memoryos-search")
        limited = llm and LimitedLLM(ChatModel(llm), concurrency=llm_concurrency, max_calls=max_llm_calls)
        analyst = ModelAnalyst(StructuredLLM(limited), PromptTemplateManager()) if limited else Analyst()
        self._parts = DialogueParts(
            kept=self._kept, analyst=analyst, embed=self._kept.embed, settings=self.settings, clock=clock,
            allowed=asked_dimensions(sensitive), instance=self._instance, threads=self._calls,
        )  # fmt: skip
        self._updater, self._is_strict = Updater(self._parts), "retrieval_page_topk" in settings
        self._backlog = PageBacklog(self._updater.run)

    def save_memory(
        self,
        user_id: str,
        session_id: str,
        user_query: str,
        assistant_response: str,
        timestamp: Moment | None = None,
        *,
        page_id: str | None = None,
    ) -> str:
        """Store what a user and an assistant said; one of them may be silent. When it returns, the pair is durable.

        Args:
            user_id: any text that is not empty.
            session_id: the conversation.
            user_query: what the user said.
            assistant_response: what the assistant said.
            timestamp: when it was said; now if left out.
            page_id: your own name of the pair; saving a pair with the same name again changes nothing.

        Returns:
            The name of the pair.

        Raises:
            InputError: a name or both texts are blank, or a text cannot be stored.
        """
        user_id, session_id = checked_name("user_id", user_id), checked_name("session_id", session_id)
        user_query, assistant_response = (
            repaired_text("what was said", text) for text in (user_query, assistant_response)
        )
        if not (user_query.strip() or assistant_response.strip()):
            raise InputError("both the user and the assistant said nothing; leave the pair out")
        if page_id == BY_USER:
            raise InputError(f"page_id {page_id!r} stands for what the user has set; choose another name")
        if page_id is not None:
            checked_name("page_id", page_id)
        said = checked_moment("timestamp", timestamp) or self._clock()
        if user_id not in self._users:
            self._kept.store.put((*_USERS, escaped(user_id)), _NAME, {"user_id": user_id}, index=False)
            conversation = self._updater.conversation(user_id)
            latest = [int(place.order.partition("-")[0]) for place in conversation.timeline.newest(1)]
            with self._lock:
                # The clock may be behind that of an earlier save.
                self._last = max([self._last, *latest])
            self._users.add(user_id)
        order = self._next_order()
        if page_id is None or not self._kept.pages(user_id, [page_id]):
            page = DialoguePage(page_id or order, order, session_id, user_query, assistant_response, said)
            self._kept.add(user_id, page)
        self._backlog.add(user_id)
        return page_id or order

    def search_memory(
        self,
        user_id: str,
        query: str,
        top_k: int | None = None,
        *,
        session_id: str | None = None,
        user_conversation_meta_data: Mapping[str, Any] | None = None,
    ) -> DialogueAnswer:
        """Return what the memory of a user has for a query, as texts for a prompt and as `hits`.

        Args:
            user_id: whose memory.
            query: a question or a task, in words.
            top_k: the number of results of all tiers together; `retrieval_page_topk` if left out. Each tier
                gives at most `retrieval_page_topk` if you set it, and the larger of both otherwise.
            session_id: only pages of this conversation.
            user_conversation_meta_data: facts about this conversation, which the answer repeats.

        Raises:
            InputError: a name or the query is blank.
        """
        most = self.settings.retrieval_page_topk
        count = most if top_k is None else top_k
        query = repaired_text("the query", query)
        if not query.strip() or count < 1:
            raise InputError(f"the query is blank, or top_k is {count}; ask for something, and at least one result")
        user_id = checked_name("user_id", user_id)
        conversation = self._updater.conversation(user_id)
        if conversation.is_new:
            self._backlog.add(user_id)
        session_id = session_id and composed(session_id)
        counts = most if self._is_strict else max(most, count), count
        about: dict[str, Any] = {"session_id": session_id, "metadata": user_conversation_meta_data}
        return search(self._parts, self._searches, conversation, query, counts, **about)

    def flush(self) -> None:
        """Wait until all pages that were saved here are in their tiers.

        Raises:
            LLMError: the chat model failed, or its budget is used up; the rest waits for the next save. An error of the
                store below is raised as it is.
        """
        self._backlog.flush()

    def profile(self, user_id: str) -> dict[str, Record]:
        """Return the known dimensions of a user, each with `value`, `confidence` and `evidence`, the names of pages."""
        return self._parts.profile(user_id)

    def set_profile(self, user_id: str, dimension: str, value: str) -> None:
        """Correct a dimension of a user; an empty value erases it with all that pages said about it before.

        Raises:
            InputError: there is no such dimension, or it has a sensitive topic that `sensitive` does not name.
        """
        key, trait = own_trait(dimension, value.strip(), self._clock(), self._parts.allowed)
        changes: dict[tuple[str, str], Record | None] = {(TRAIT, key): trait}
        if not value.strip():
            known = self._kept.all(user_id, TRAIT).items()
            changes |= {(TRAIT, name): None for name, one in known if one["dimension"] == dimension and name != key}
        self._kept.put(user_id, changes)

    def knowledge(self, user_id: str) -> dict[str, list[Record]]:
        """Return the latest `knowledge_capacity` entries of each kind that hold; searches find all."""
        most = self.settings.knowledge_capacity
        return {kind: standing_knowledge(self._kept.all(user_id, kind), most) for kind in KNOWLEDGE}

    def delete_page(self, user_id: str, page_id: str) -> None:
        """Delete a pair by its name, and all that was derived from it, after the work that is under way.

        The memory learns again what other pairs say, too. Exported files stay. On a `NeuroStore`, the words leave
        the disk with `store.memory.admin.compact()`.

        Raises:
            InputError: a name is blank.
        """
        checked_name("page_id", page_id)
        self._updater.erase(checked_name("user_id", user_id), [page_id])

    def delete_session(self, user_id: str, session_id: str) -> None:
        """Delete the pairs of a conversation; see `delete_page`."""
        user_id = checked_name("user_id", user_id)
        timeline = self._updater.conversation(user_id).timeline
        places = timeline.newest(len(timeline.keys()), checked_name("session_id", session_id))
        self._updater.erase(user_id, [place.key for place in places])

    def delete_user(self, user_id: str) -> None:
        """Delete all that was kept of a user, after the work that is under way; see `delete_page`.

        What another process saves at the same time may stay, too.

        Raises:
            InputError: the name is blank.
        """
        user_id = checked_name("user_id", user_id)
        self._updater.erase(user_id)
        self.store.delete((*_USERS, escaped(user_id)), _NAME)
        self._users.discard(user_id)

    def export(self, folder: str | Path) -> None:
        """Write MemoryOS's files: a JSON file for each user in `short_term`, `mid_term` and `long_term`."""
        for item in self.store.search(_USERS, limit=2**31 - 1):
            user_id = item.value["user_id"]
            for tier, value in self._tiers(user_id).items():
                written = json.dumps({"user_id": user_id, **value}, ensure_ascii=False, indent=1)
                replace_file(Path(folder) / tier / f"{escaped(user_id)}.json", written)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations on the store below. What was derived from deleted pages is deleted, too."""
        given = list(ops)
        results = self.store.batch(given)
        self._follow(given)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations on the store below, as `batch` does."""
        given = list(ops)
        results = await self.store.abatch(given)
        await asyncio.to_thread(self._follow, given)
        return results

    def close(self) -> None:
        """Stop the background work, which the next opening continues, and close the store if it was opened here."""
        self._backlog.stop()
        self._calls.shutdown()
        self._searches.shutdown()
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_order(self) -> str:
        """Return an order after all that were given out here, and by the clock after those of other processes."""
        with self._lock:
            self._last = max(self._last + 1, int(self._clock().timestamp() * 1e6))
            return f"{self._last:016d}-{self._instance}"

    def _follow(self, ops: Iterable[Op]) -> None:
        places = {op.namespace for op in ops if isinstance(op, PutOp) and op.value is None}
        for label in {place[1] for place in places if place == (ROOT, *place[1:2], PAGES)}:
            if (user := self.store.get((*_USERS, label), _NAME)) is not None:
                self._updater.erase(user.value["user_id"], ())

    def _tiers(self, user_id: str) -> dict[str, Record]:
        conversation = self._updater.conversation(user_id)
        recent = [one.key for one in conversation.timeline.newest(self.settings.short_term_max_capacity)]
        placed = self._kept.all(user_id, PAGE)
        pages = {
            key: {
                "key": page.key, "session_id": page.session_id, "user": page.user, "assistant": page.assistant,
                "timestamp": page.said.isoformat(),
            }
            for key, page in self._kept.pages(user_id, {*recent, *placed}).items()
        }  # fmt: skip
        following = {one["previous"]: key for key, one in placed.items()}
        segments: dict[str, Record] = {}
        now = self._clock().timestamp()
        with conversation.lock:
            for one in conversation.segments.values():
                keys = [key for key in one.pages if key in pages and key in placed]
                listed = [{**pages[key], **placed[key], "next": following.get(key)} for key in keys]
                if not listed:
                    # Its pages were erased, or are not written yet.
                    continue
                heat = one.heat(now, self.settings)
                segments[one.id] = {
                    "summary": one.summary, "keywords": one.front, "heat": heat, "visits": one.visited, "pages": listed,
                }  # fmt: skip
        return {
            "short_term": {"pages": [pages[key] for key in recent if key in pages]},
            "mid_term": {"segments": segments},
            "long_term": {"user_profile": self.profile(user_id), **self.knowledge(user_id)},
        }


def _kept_in(store: BaseStore, index: Any) -> StoreDialogue:  # noqa: ANN401 - as in LangGraph
    if isinstance(store, NeuroStore):
        return GraphDialogue(store.memory)
    embedder = embedder_of(index) or compose.build_text_embedder(compose.load_config())
    return StoreDialogue(store, embedder.embed_documents)
