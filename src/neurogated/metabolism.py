"""`Metabolism`: the calls by which memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Unpack

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.arguments import names_arguments
from neurogated.core.clock import checked_moment
from neurogated.core.facts import Fact
from neurogated.core.filters import FilterOptions
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError
from neurogated.ingestion.facts import Value, fact_document
from neurogated.ingestion.writer import Writer
from neurogated.runtime import Event, Runtime
from neurogated.tiers.facts import read_facts

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

    # Facts

    def add_fact(
        self,
        subject: str,
        attribute: str,
        value: Value,
        *,
        user_id: str | None = None,
        timestamp: datetime | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """State a fact: a memory of kind `fact`, which recalls find and `facts` lists.

        The same fact stated again is the same memory, with the new times and metadata. Another value for the same
        attribute, or another `valid_from`, is another memory.

        Args:
            subject: whom or what it is about, such as `Ana`.
            attribute: which property, such as `city`.
            value: the value, such as `Lyon`; numbers and truth values are stored as JSON texts.
            user_id: the user who owns it; without one, every user finds it.
            timestamp: when it was said.
            valid_from: when it began to hold.
            valid_to: when it ceased to hold.
            metadata: your own JSON values.

        Returns:
            The id of the memory.

        Raises:
            InputError: a part is blank, or a time is invalid.
        """
        document = fact_document(
            subject,
            attribute,
            value,
            user_id=user_id,
            timestamp=timestamp,
            valid_from=valid_from,
            valid_to=valid_to,
            metadata=metadata,
        )
        with self._runtime.work("indexing"):
            ((node_id,),) = self._writer.add([document])
        self._runtime.follow(self.store, self.config.namespace, has_facts=True)
        self._runtime.tell("added", [node_id])
        return node_id

    def facts(
        self,
        subject: str | None = None,
        attribute: str | None = None,
        *,
        valid_at: datetime | None = None,
        **filters: Unpack[FilterOptions],
    ) -> list[Fact]:
        """Return the facts of the graph, stated or derived, in the order they were added.

        Args:
            subject: only facts about it; upper and lower case are the same.
            attribute: only facts about this property.
            valid_at: only facts that held at this time.
            **filters: which memories; see `FilterOptions`. With `user_id`, the facts of this user and those without an
                owner.

        Raises:
            InputError: a filter or a time is invalid.
        """
        return read_facts(self.store, subject, attribute, checked_moment("valid_at", valid_at), filters)

    def catch_up_facts(self) -> int:
        """Write the changed facts of this graph into the SQL table now, and return how many rows changed.

        Every write does so too, but a write skips a database that is away.

        Raises:
            ConfigError: the memory has no SQL table, or is read-only.
            StorageError: the database is away or refuses.
        """
        if self._runtime.facts is None or self.config.read_only:
            raise ConfigError("this memory writes no facts into SQL; set metabolism.facts_url, and open it for writing")
        return self._runtime.facts.catch_up(self.store, self.config.namespace)

    def _told(self, event: Event, *about: Any) -> None:  # noqa: ANN401 - each event has its own arguments
        """Let the projections follow a write, and call the callbacks of its event."""
        self._runtime.follow(self.store, self.config.namespace)
        self._runtime.tell(event, *about)

    def _followed(self, count: int) -> int:
        """Let the projections follow a write, and return its result."""
        self._runtime.follow(self.store, self.config.namespace)
        return count
