"""`Facts`: statements of the form subject, attribute, value."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from itertools import islice
from typing import Any, Unpack

from neurogated.components.texts import Texts
from neurogated.core.clock import Moment, checked_moment
from neurogated.core.facts import Fact
from neurogated.core.filters import FilterOptions
from neurogated.core.model import checked_count
from neurogated.errors import ConfigError
from neurogated.ingestion.facts import Value, fact_document
from neurogated.session import Session
from neurogated.tiers.facts import read_facts


class Facts:
    """The calls about facts, as `memory.facts`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        subject: str,
        attribute: str,
        value: Value,
        *,
        user_id: str | None = None,
        timestamp: Moment | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """State a fact: a memory of kind `fact`, which recalls find and `list` lists.

        The same fact stated again is the same memory, with the new times and metadata. Another value for the same
        attribute, or another `valid_from`, is another memory.

        Args:
            subject: the person or thing that it is about, such as `Ana`.
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
            zone=self._session.config.zone,
        )
        ((node_id,),) = Texts(self._session).store([document])
        return node_id

    def list(
        self,
        subject: str | None = None,
        attribute: str | None = None,
        *,
        valid_at: Moment | None = None,
        limit: int | None = None,
        offset: int = 0,
        **filters: Unpack[FilterOptions],
    ) -> builtins.list[Fact]:
        """Return the facts of the graph, stated or read from memories, in the order they were added.

        Facts that hold no longer have a `valid_to`.

        Args:
            subject: only facts about it; upper and lower case are the same.
            attribute: only facts about this property.
            valid_at: only facts that held at this time.
            limit: at most this many.
            offset: leave out this many first ones.
            **filters: which memories; see `FilterOptions`. With `user_id`, the facts of this user and those without an
                owner.

        Raises:
            InputError: a filter, a number or a time is invalid.
        """
        self._session.of_user(filters.get("user_id"))
        end = None if limit is None else checked_count("offset", offset) + checked_count("limit", limit)
        found = read_facts(
            self._session.store,
            subject,
            attribute,
            checked_moment("valid_at", valid_at, self._session.config.zone),
            filters,
        )
        return builtins.list(islice(found, checked_count("offset", offset), end))

    def catch_up(self) -> int:
        """Write the changed facts of this graph into the SQL table now, and return how many rows changed.

        Every write does so too, but a write skips a database that is away.

        Raises:
            ConfigError: the memory has no SQL table, or is read-only.
            StorageError: the database is away or refuses.
        """
        facts, config = self._session.parts.facts, self._session.config
        if facts is None or config.read_only:
            raise ConfigError(
                "this memory writes no facts into SQL; pip install 'neurogated[facts]', set metabolism.facts_url to "
                "a database or leave it out, and open a memory in a folder for writing"
            )
        return facts.catch_up(self._session.store, config.namespace)
