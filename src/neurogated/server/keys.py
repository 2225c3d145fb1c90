"""API keys: a file with the hash of each key, and what its holder may see."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from neurogated.core.files import make_folder, private, replace_file
from neurogated.errors import ConfigError
from neurogated.text.strings import composed

if sys.platform == "linux":
    import fcntl

_log = logging.getLogger(__name__)


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

    def __init__(self, grants: Mapping[str, Grant] = MappingProxyType({}), file: Path | None = None) -> None:
        """Take the grants by the SHA-256 of their keys. A key has 256 random bits, so its hash needs no salt.

        Keys that are removed from the file, or added for the same namespaces, count from the next request on.
        """
        self.grants = {digest: replace(grant, key=digest) for digest, grant in grants.items()}
        self._namespaces = {grant.namespace for grant in grants.values()}
        self._file, self._version = file, _version(file)

    @classmethod
    def read(cls, file: Path) -> Keys:
        """Return the keys of a file; none if there is no file. Raises ConfigError if it is not a file of keys."""
        version = _version(file)
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            keys = cls({digest: Grant(**grant) for digest, grant in stored.items()}, file)
        except FileNotFoundError:
            keys = cls(file=file)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{file} is not a file of keys ({error}); remove it and create new keys") from error
        keys._version = version
        return keys

    def create(self, file: Path, grant: Grant) -> str:
        """Add a new key to the file, which only its owner may read, and return the key. It is stored as a hash only."""
        key = f"ng-{secrets.token_urlsafe(32)}"
        make_folder(file.parent)
        with open(file.with_name(f".{file.name}.lock"), "w", opener=private) as lock:
            if sys.platform == "linux":  # two commands at once
                fcntl.flock(lock, fcntl.LOCK_EX)
            self.grants = Keys.read(file).grants | {_digest(key): replace(grant, key=_digest(key))}
            stored = {one.key: {"namespace": one.namespace, "user_id": one.user_id} for one in self.grants.values()}
            replace_file(file, json.dumps(stored, indent=2))
        return key

    def grant_of(self, authorization: str) -> Grant | None:
        """Return the grant of a header `Authorization: Bearer KEY`; None if the key is missing or unknown."""
        if self._file is not None and (version := _version(self._file)) != self._version:
            self._version = version
            try:
                grants = Keys.read(self._file).grants
                self.grants = {name: grant for name, grant in grants.items() if grant.namespace in self._namespaces}
            except ConfigError as error:
                _log.error("%s; the keys that were read before still count", error)
        scheme, _, key = authorization.partition(" ")
        return self.grants.get(_digest(key.strip())) if scheme.lower() == "bearer" else None


NO_KEY = 401, "give a key of this server in the header 'Authorization: Bearer KEY'"


def _version(file: Path | None) -> tuple[int, ...] | None:
    """Return what tells one version of a file from the next; None without a file."""
    try:
        about = None if file is None else file.stat()
    except OSError:
        about = None
    return None if about is None else (about.st_ino, about.st_mtime_ns, about.st_size)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
