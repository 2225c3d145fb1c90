"""Facts that the caller states, as documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from neurogated.core.clock import Moment, checked_moment, to_utc
from neurogated.core.found import Statement
from neurogated.core.node_kind import FACT
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.ingestion.document import Document, Passage
from neurogated.text.times import Zone
from neurogated.utils.hash_utils import compute_mdhash_id

Value = str | float | bool
"""The value of a fact: a text, a number or a truth value."""


def fact_document(
    subject: str,
    attribute: str,
    value: Value,
    *,
    user_id: str | None,
    timestamp: Moment | None,
    valid_from: Moment | None,
    valid_to: Moment | None,
    metadata: Mapping[str, Any] | None,
    zone: Zone = None,
) -> Document:
    """Return a fact as a document, whose id depends on the owner, the three parts and `valid_from`.

    Raises:
        InputError: a part is blank, has NUL or is of a wrong type, or a time is invalid.
    """
    if not isinstance(value, str | int | float):
        raise InputError(f"the value of a fact is {value!r}, but must be a text, a number or a truth value")
    statement = Statement(subject, attribute, value if isinstance(value, str) else json.dumps(value))
    if "\0" in statement.text:
        # Another text would be cleaned, but the parts of a fact are keys.
        raise InputError(f"a fact is {statement.text!r}, but must be text without NUL")
    scope, begin = Scope(user_id), checked_moment("valid_from", valid_from, zone)
    parts = [scope.user_id, statement.subject, statement.attribute, statement.value]
    # A fact that holds again after a pause is another fact.
    parts += [to_utc(begin).isoformat()] if begin else []
    return Document(
        (Passage(statement.text),),
        metadata=metadata or {},
        valid_from=begin,
        valid_to=checked_moment("valid_to", valid_to, zone),
        scope=scope,
        kind=FACT,
        timestamp=checked_moment("timestamp", timestamp, zone),
        id=compute_mdhash_id(json.dumps(parts, ensure_ascii=False), prefix="fact-"),
        statement=statement,
    )
