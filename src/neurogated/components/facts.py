"""`Facts`: statements of the form subject, attribute, value."""

import builtins
import json
from collections.abc import Mapping
from itertools import islice
from typing import Any, Unpack

from neurogated.components.texts import Texts
from neurogated.core.clock import Moment, checked_moment, to_utc
from neurogated.core.facts import Fact
from neurogated.core.filters import FilterOptions
from neurogated.core.found import Statement
from neurogated.core.model import checked_count
from neurogated.core.node_kind import FACT
from neurogated.core.scope import Scope
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.document import Document, Passage
from neurogated.session.session import Component
from neurogated.tiers.facts import read_facts
from neurogated.utils.hash_utils import compute_mdhash_id

Value = str | float | bool
_EXACT = 2**53  # up to here floats tell all integers apart
"""The value of a fact: a text, a number or a truth value."""


class Facts(Component):
    """The calls about facts, as `memory.facts`."""

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
        attribute, or another `valid_from`, is another memory. Raises InputError if a part is blank, or a time is
        invalid.

        Args:
            subject: the person or thing that it is about, such as `Ana`.
            attribute: which property, such as `city`.
            value: the value, such as `Lyon`; numbers and truth values are stored as JSON texts. 3.0 is the same as 3.
            user_id: the user who owns it; without one, every user finds it.
            timestamp: when it was said.
            valid_from: when it began to hold.
            valid_to: when it ceased to hold.
            metadata: your own JSON values.

        Returns the id of the memory.
        """
        if not isinstance(value, str | int | float):
            raise InputError(f"the value of a fact is {value!r}, but must be a text, a number or a truth value")
        if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
            value = int(value)  # 3.0 is 3 in JSON, and many programs write one for the other
        try:
            said = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        except ValueError as error:
            raise InputError(f"the value of a fact is no number of JSON: {error}") from None
        statement, scope = Statement(subject, attribute, said), Scope(user_id)
        given = {"timestamp": timestamp, "valid_from": valid_from, "valid_to": valid_to}
        times = {name: checked_moment(name, one, self._session.config.zone) for name, one in given.items()}
        # Its id depends on the owner, the three parts and `valid_from`: one that holds again is another fact.
        parts = [scope.user_id, statement.subject, statement.attribute, statement.value]
        parts += [to_utc(begin).isoformat()] if (begin := times["valid_from"]) else []
        fact_id = compute_mdhash_id(json.dumps(parts, ensure_ascii=False), prefix="fact-")
        about: dict[str, Any] = {"scope": scope, "kind": FACT, "id": fact_id, "statement": statement, **times}
        document = Document((Passage(statement.text),), metadata=metadata or {}, **about)
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

        Facts that hold no longer have a `valid_to`. Raises InputError if a filter, a number or a time is invalid.

        Args:
            subject: only facts about it; upper and lower case are the same, and so are both forms of "é".
            attribute: only facts about this property.
            valid_at: only facts that held at this time.
            limit: at most this many.
            offset: leave out this many first ones.
            **filters: which memories; see `FilterOptions`. With `user_id`, the facts of this user and those without an
                owner.
        """
        self._session.of_user(filters.get("user_id"))
        for name, wanted in (("subject", subject), ("attribute", attribute)):
            if not isinstance(wanted, str | None):
                raise InputError(f"the {name} of facts is {wanted!r:.60}, but must be text")
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
