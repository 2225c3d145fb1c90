"""Content hashes that serve as ids."""

import hashlib


def compute_mdhash_id(content: str, prefix: str = "") -> str:
    """Return `prefix` followed by the hexadecimal MD5 of the UTF-8 text, the naming scheme of HippoRAG's chunks.

    MD5 only names the text here; it protects nothing.
    """
    return prefix + hashlib.md5(content.encode("utf-8"), usedforsecurity=False).hexdigest()
