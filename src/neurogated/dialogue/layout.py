"""Names of users as labels and names of files."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from neurogated.text.strings import composed

_LONGEST = 100


def escaped(name: str) -> str:
    """Return a name as a label without dots, which is also the name of a file; different names stay different.

    Names that are long, or that differ from others by upper case only, end with a hash.
    """
    name = composed(name)
    written = quote(name, safe=" ").replace(".", "%2E").replace("~", "%7E")
    if len(written) <= _LONGEST and name == name.lower():
        return written
    return f"{written[:_LONGEST].lower()}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
