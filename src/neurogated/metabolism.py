"""`Metabolism`: the calls by which memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from abc import ABC

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.arguments import names_arguments
from neurogated.core.ports import GraphStorePort
from neurogated.core.text import checked_text
from neurogated.errors import InputError
from neurogated.ingestion.writer import Writer
from neurogated.runtime import Runtime

__all__ = ["Metabolism"]


@names_arguments
class Metabolism(ABC):
    """Base of `NeuroGraphMemory` with the calls of its metabolism.

    Attributes:
        store: the graph.
        config: the settings.
    """

    config: MemoryConfig
    store: GraphStorePort
    _writer: Writer
    _parts: Parts
    _runtime: Runtime

    def focus(self, task: str | None, *, session_id: str | None = None, user_id: str | None = None) -> None:
        """Set the present task of the agent: new memories that are about it start with more energy.

        The task is not stored. It applies to the memories of the session, or else of the user, or else to all.

        Args:
            task: what the agent is doing, in words; None clears the task.
            session_id: the session of the task; all sessions of the user when left out.
            user_id: the user of the task; all users when left out.

        Raises:
            InputError: the task is blank or not a text.
        """
        if task is not None and not checked_text("the task", task).strip():
            raise InputError(f"the task is {task!r}, but must be words, or None to clear it")
        vector = None if task is None else self._parts.embedder.embed_queries([task])[0]
        self._writer.focus.set(vector, user_id, session_id)
