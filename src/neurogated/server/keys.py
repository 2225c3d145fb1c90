"""API keys: a file with the hash of each key, and what its holder may see."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from neurogated.core.extras import needs_extra
from neurogated.core.files import replace_file
from neurogated.errors import ConfigError
from neurogated.text.strings import composed

with needs_extra("serve"):
    from starlette.exceptions import HTTPException


@dataclass(frozen=True, slots=True)
class Grant:
    """What a request may see and change."""

    namespace: str
    """The graph."""
    user_id: str | None = None
    """The only user; None for all users of the graph."""
    key: str = ""
    """The hash of the key; empty without a key."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "user_id", self.user_id and composed(self.user_id))


class Keys:
    """The keys of a server."""

    def __init__(self, grants: Mapping[str, Grant] = MappingProxyType({})) -> None:
        """Take the grants by the SHA-256 of their keys. A key has 256 random bits, so its hash needs no salt."""
        self.grants = {digest: replace(grant, key=digest) for digest, grant in grants.items()}

    @classmethod
    def read(cls, file: Path) -> Keys:
        """Return the keys of a file; none if there is no file. Raises ConfigError if it is not a file of keys."""
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            return cls({digest: Grant(**grant) for digest, grant in stored.items()})
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{file} is not a file of keys ({error}); remove it and create new keys") from error

    def create(self, file: Path, grant: Grant) -> str:
        """Add a new key to the file, which only its owner may read, and return the key. It is stored as a hash only."""
        key = f"ng-{secrets.token_urlsafe(32)}"
        self.grants[_digest(key)] = replace(grant, key=_digest(key))
        stored = {one.key: {"namespace": one.namespace, "user_id": one.user_id} for one in self.grants.values()}
        replace_file(file, json.dumps(stored, indent=2))
        return key

    def grant_of(self, authorization: str) -> Grant | None:
        """Return the grant of a header `Authorization: Bearer KEY`; None if the key is missing or unknown."""
        scheme, _, key = authorization.partition(" ")
        return self.grants.get(_digest(key.strip())) if scheme.lower() == "bearer" else None


NO_KEY = 401, "give a key of this server in the header 'Authorization: Bearer KEY'"


def known_grant(grant: Grant | None) -> Grant:
    """Return a grant; answers 401 if there is none."""
    if grant is None:
        raise HTTPException(*NO_KEY)
    return grant


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
