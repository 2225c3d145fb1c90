"""The SQL tables of facts, for every database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    TypeDecorator,
)

from neurogated.core.facts import Fact

VERSION = 4
"""Raised whenever a column, its settings or what has a row changes; tables of another version are rebuilt."""
SCHEMA = MetaData()


class _Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite has no time zones, so its times are read as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's
        return None if value is None else value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _graph() -> list[Column[Any]]:
    return [Column("memory", String, primary_key=True), Column("namespace", String, primary_key=True)]


FACTS = Table(
    "facts",
    SCHEMA,
    *_graph(),
    Column("id", String, primary_key=True),
    Column("user_id", String),
    Column("agent_id", String),
    Column("session_id", String),
    Column("path", JSON, nullable=False),
    Column("subject", String, nullable=False),
    Column("attribute", String, nullable=False),
    Column("value", String, nullable=False),
    Column("is_denied", Boolean, nullable=False),
    Column("statement", String, nullable=False),
    Column("valid_from", _Moment),
    Column("valid_to", _Moment),
    Column("said_at", _Moment),
    Column("expires_at", _Moment),
    Column("confidence", Float),
    Column("sources", JSON, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Index("facts_by_subject", "memory", "namespace", "subject", "attribute"),
    Index("facts_by_user", "memory", "namespace", "user_id"),
)
"""One row for each fact. `memory` and `namespace` say of which graph; `sequence` is the change that wrote it."""

PROGRESS = Table(
    "facts_progress",
    SCHEMA,
    *_graph(),
    Column("version", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
)
"""The last change that the rows of a graph show: its number, and its time in microseconds since 1970 UTC."""


def row_of(fact: Fact, sequence: int) -> dict[str, Any]:
    """Return the columns of a fact."""
    scope = fact.scope
    texts = {
        "id": fact.id,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "session_id": scope.session_id,
        "subject": fact.subject,
        "attribute": fact.attribute,
        "value": fact.value,
        "statement": fact.statement,
    }
    return {name: storable(text) for name, text in texts.items()} | {
        "path": [storable(part) for part in scope.path],
        "is_denied": fact.is_denied,
        "valid_from": fact.valid_from,
        "valid_to": fact.valid_to,
        "said_at": fact.timestamp,
        "expires_at": fact.expires_at,
        "confidence": fact.confidence,
        "sources": [storable(source) for source in fact.sources],
        "sequence": sequence,
    }


def storable(text: str | None) -> str | None:
    """Replace the one character that PostgreSQL cannot store."""
    return text and text.replace("\0", "\ufffd")
