"""The awaitable calls of a memory: each runs in a thread of the memory's pool."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable, Iterable
from typing import Any, Unpack
from uuid import UUID

from neurogated.browsing import Page
from neurogated.context.model import CONTEXT_TOKENS, Context
from neurogated.core.conflicts import Conflict, Status
from neurogated.core.filters import FilterOptions
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.trace import Feedback, Recall, RecalledMemory
from neurogated.ingestion.contents import Content, Message
from neurogated.ingestion.revision import Changes
from neurogated.plasticity.plasticity_engine import Outcome
from neurogated.retrieval.neuro_retriever import RecallOptions
from neurogated.runtime import Runtime

__all__ = ["Asynchronous"]


class Asynchronous:
    """Base of `NeuroGraphMemory`: its calls never block the event loop; 64 of them run at once."""

    store: GraphStorePort
    _runtime: Runtime

    async def aadd(self, content: Content, **options: Any) -> list[str]:  # noqa: ANN401 - those of `add`
        """Run `add` in a thread."""
        added: list[str] = await self._in_thread("add", content, **options)
        return added

    async def aadd_fact(self, subject: str, attribute: str, value: str | float | bool, **options: Any) -> str:  # noqa: ANN401, FBT001 - those of `add_fact`
        """Run `add_fact` in a thread."""
        added: str = await self._in_thread("add_fact", subject, attribute, value, **options)
        return added

    async def arecall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Run `recall` in a thread."""
        recall: Recall = await self._in_thread("recall", query, **options)
        return recall

    async def aretrieve(self, query: str, **options: Unpack[RecallOptions]) -> list[str]:
        """Run `retrieve` in a thread."""
        return [memory.content for memory in await self.arecall(query, **options)]

    async def aget_context(self, task: str, token_budget: int = CONTEXT_TOKENS, **options: Any) -> Context:  # noqa: ANN401 - those of `get_context`
        """Run `get_context` in a thread."""
        context: Context = await self._in_thread("get_context", task, token_budget, **options)
        return context

    async def arecord_event(self, event: str | Message, **options: Any) -> list[str]:  # noqa: ANN401 - those of `record_event`
        """Run `record_event` in a thread."""
        added: list[str] = await self._in_thread("record_event", event, **options)
        return added

    async def afeedback(
        self, relevant_node_ids: Iterable[str | UUID | RecalledMemory], outcome: Outcome = "success"
    ) -> Feedback:
        """Run `feedback` in a thread."""
        learned: Feedback = await self._in_thread("feedback", relevant_node_ids, outcome)
        return learned

    async def aupdate(self, node_id: str | UUID, content: str | None = None, **changes: Unpack[Changes]) -> MemoryNode:
        """Run `update` in a thread."""
        node: MemoryNode = await self._in_thread("update", node_id, content, **changes)
        return node

    async def adelete(
        self, ids: str | UUID | Iterable[str | UUID] | None = None, **filters: Unpack[FilterOptions]
    ) -> int:
        """Run `delete` in a thread."""
        count: int = await self._in_thread("delete", ids, **filters)
        return count

    async def alist(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[FilterOptions]
    ) -> Page:
        """Run `list` in a thread."""
        page: Page = await self._in_thread("list", limit=limit, cursor=cursor, **filters)
        return page

    async def aconflicts(self, status: Status | None = "open", **options: Any) -> list[Conflict]:  # noqa: ANN401 - those of `conflicts`
        """Run `conflicts` in a thread."""
        found: list[Conflict] = await self._in_thread("conflicts", status, **options)
        return found

    async def aresolve(self, conflict_id: str, keep: str, **options: Any) -> Conflict:  # noqa: ANN401 - those of `resolve`
        """Run `resolve` in a thread."""
        resolved: Conflict = await self._in_thread("resolve", conflict_id, keep, **options)
        return resolved

    async def _in_thread(self, name: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - of any method
        if self.store.closed:
            self.store.view()  # raises the error that says why
        # The loop's default executor has few threads, which other code shares.
        method: Callable[..., Any] = getattr(self, name)
        asked = [functools.partial(contextvars.copy_context().run, method, *arguments, **options)]
        del method
        # The thread removes the call from the list, so that it holds no reference to this memory after the answer.
        return await asyncio.get_running_loop().run_in_executor(self._runtime.threads, lambda: asked.pop()())  # noqa: PLW0108
