"""The address of a Neo4j database, with its user and password."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

from neurogated.errors import ConfigError
from neurogated.text.strings import checked_identifier

_MEMORY = "default"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, and who opens it."""

    server: str
    """Its URL without user, password and database, as in `bolt://localhost:7687`."""
    database: str | None = None
    """Its name; None for the server's default."""
    memory: str = _MEMORY
    """Its memory; a database may hold several."""
    user: str | None = None
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, url: str, environ: Mapping[str, str] = os.environ) -> Self:
        """Return the address that a URL names, as in `bolt://USER:PASSWORD@HOST:7687/DATABASE?memory=NAME`.

        Args:
            url: only the host is necessary.
            environ: its `NEO4J_USERNAME` (or `NEO4J_USER`) and `NEO4J_PASSWORD` complete the URL.

        Raises:
            ConfigError: the URL names no host, has an unknown part, or names a database that no server can have.
        """
        parts = urlsplit(url)
        database = parts.path.removeprefix("/")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        memory = query.pop("memory", _MEMORY)
        if not parts.hostname or "/" in database or query or not memory or parts.fragment:
            # The URL may have a password.
            raise ConfigError(
                "storage is no address of a Neo4j database; write bolt://HOST:7687 or bolt://HOST:7687/DATABASE?memory=NAME"
            )
        checked_identifier("the database in storage", database)
        user = unquote(parts.username or "") or environ.get("NEO4J_USERNAME") or environ.get("NEO4J_USER")
        password = unquote(parts.password or "") or environ.get("NEO4J_PASSWORD", "")
        server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return cls(server, database or None, memory, user or None, password)

    def __str__(self) -> str:
        return f"{self.server}/{self.database or ''}?memory={self.memory}"
