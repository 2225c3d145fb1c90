"""Names of users as labels and names of files, and files that are there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from urllib.parse import quote

from neurogated.core.durable import sync_folder
from neurogated.core.private import make_folder, private
from neurogated.dialogue.model import Record

_LONGEST = 100


def escaped(name: str) -> str:
    """Return a name as a label without dots, which is also the name of a file; different names stay different.

    Names that are long, or that differ from others by upper case only, end with a hash.
    """
    written = quote(name, safe=" ").replace(".", "%2E").replace("~", "%7E")
    if len(written) <= _LONGEST and name == name.lower():
        return written
    return f"{written[:_LONGEST].lower()}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def write_json(path: Path, value: Record) -> None:
    """Write a file in one step: a crash leaves the old file or the new one."""
    make_folder(path.parent)
    draft = path.with_name(f"{path.name}.new")
    with open(draft, "w", encoding="utf-8", opener=private) as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)
