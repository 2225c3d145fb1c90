"""Google's Agent Development Kit: a memory service."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from neurogated.core.extras import needs_extra
from neurogated.integrations.conversation import Conversation, details_of
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.neuro_retriever import RecallOptions

with needs_extra("google-adk"):
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types


class MemoryService(BaseMemoryService):
    """Stores sessions, and recalls memories of a user in an app. The app is the agent of the memories."""

    def __init__(self, memory: NeuroGraphMemory, *, options: RecallOptions | None = None) -> None:
        """Take the memory and further options of the recall."""
        self._memory, self._opened = memory, partial(Conversation, memory, options=options)

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events that are not stored yet, with the metadata."""
        said = [one for one in events if not one.partial and _content(one).parts]
        about = {"metadata": dict(custom_metadata or {})}
        times = (datetime.fromtimestamp(one.timestamp, UTC) for one in said)
        messages = [
            {**_said(_content(one), one.author), **about, "timestamp": time}
            for one, time in zip(said, times, strict=True)
        ]
        conversation = self._opened(session_id, user_id=user_id, agent_id=app_name)
        await self._memory.aio.run(conversation.add_new, [one.id for one in said], messages)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store texts that belong to no session."""
        messages = list[dict[str, Any]]()
        for one in memories:
            about: dict[str, Any] = {"metadata": {**one.custom_metadata, **(custom_metadata or {})}}
            about |= {"timestamp": one.timestamp} if one.timestamp else {}
            messages.append({**_said(one.content, one.author), **about})
        await self._memory.aio.run(self._opened(None, user_id=user_id, agent_id=app_name).add_said, messages)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the memories that a question recalls, best first."""
        found = await self._memory.aio.run(self._opened(None, user_id=user_id, agent_id=app_name).recall, query)
        entries = [
            MemoryEntry(
                id=one.id,
                content=types.Content(
                    role="user" if one.node.role == "user" else "model", parts=[types.Part(text=one.content)]
                ),
                author=one.node.speaker or one.node.role,
                timestamp=one.node.timestamp.isoformat() if one.node.timestamp else None,
                custom_metadata=details_of(one),
            )
            for one in found
        ]
        return SearchMemoryResponse(memories=entries)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a memory of the user in the app; raises UnknownIdError if there never was one."""

        def delete(name: str) -> None:
            scope = self._memory.store.view().scope_of_removed(name) or self._memory.get(name).scope
            if (scope.user_id, scope.agent_id) == (user_id, app_name):
                self._memory.delete(name)

        if memory_id:
            await self._memory.aio.run(delete, memory_id)


def _content(event: Event) -> types.Content:
    """Return what an event says; of speech in a live session, the words that were heard."""
    heard, role = (
        event.input_transcription or event.output_transcription,
        "user" if event.input_transcription else "model",
    )
    if (event.content and event.content.parts) or not (heard and heard.text):
        return event.content or types.Content()
    return types.Content(role=role, parts=[types.Part(text=heard.text)])


def _said(content: types.Content, author: str | None) -> dict[str, Any]:
    role = "user" if (content.role or author) == "user" else "assistant"
    parts = [part.model_dump(exclude_none=True) for part in content.parts or []]
    return {"role": role, "parts": parts, "name": None if author in {None, "user"} else author}
