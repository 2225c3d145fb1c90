"""Content hashes that serve as ids."""

import hashlib

__all__ = ["compute_mdhash_id"]


def compute_mdhash_id(content: str, prefix: str = "") -> str:
    """Return `prefix` followed by the hexadecimal MD5 of the UTF-8 text, as HippoRAG names its chunks.

    MD5 serves as a name here and not as protection.
    """
    return prefix + hashlib.md5(content.encode("utf-8"), usedforsecurity=False).hexdigest()
