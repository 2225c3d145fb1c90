"""Ids: hashes of contents, and ids in order of arrival."""

import hashlib
import secrets
import time
from itertools import count

# From the microsecond in which the process starts: a later process begins with higher numbers.
_ARRIVALS = count(time.time_ns() // 1_000)


def compute_mdhash_id(content: str, prefix: str = "") -> str:
    """Return `prefix` followed by the hexadecimal MD5 of the UTF-8 text, the naming scheme of HippoRAG's chunks.

    MD5 only names the text here; it protects nothing.
    """
    return prefix + hashlib.md5(content.encode("utf-8"), usedforsecurity=False).hexdigest()


def arrival_id(prefix: str) -> str:
    """Return `prefix` and 32 hexadecimal digits, in order of the calls in a process; half of them are random.

    Equal scores are in order of id. So the same messages in the same order have the same scores in every run.
    """
    return f"{prefix}{next(_ARRIVALS):014x}{secrets.token_hex(9)}"
