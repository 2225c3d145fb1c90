"""A memory of your notes: the Markdown files, mails and chat exports of a folder.

usage: python examples/notes.py FOLDER [QUESTION]

Each run adds new files, updates changed ones, and deletes the memories of deleted ones.
The memory is in FOLDER/.memory. Files that it reads:

* *.md     notes; the title is found in the text
* *.eml    mails
* *.json   chats: a list of {"role", "content", "name"?, "timestamp"?}
"""

import email
import email.policy
import json
import sys
from collections.abc import Iterator
from datetime import datetime
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path

from neurogated import MemoryConfig, NeuroGraphMemory, field


def main(folder: Path, question: str | None) -> None:
    """Update the memory from the folder, then answer the question."""
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder / ".memory"))) as memory:
        present = dict(files(folder))
        known = {node.metadata["file"]: node.metadata["changed"] for node in memory.list(where=field("file").exists())}
        for name in known.keys() - present.keys():
            forget(memory, name)
        for name, path in present.items():
            changed = path.stat().st_mtime
            if known.get(name) != changed:
                forget(memory, name)
                remember(memory, path, {"file": name, "changed": changed})
        print(f"{len(present)} files, {memory.count()} memories")
        if question is not None:
            for remembered in memory.recall(question, top_n=3):
                print(f"\n{remembered.metadata['file']} ({remembered.score:.2f})\n{remembered.content}")


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the names and paths of the readable files."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".md", ".eml", ".json"} and ".memory" not in path.parts:
            yield path.relative_to(folder).as_posix(), path


def forget(memory: NeuroGraphMemory, name: str) -> None:
    """Delete all memories of a file."""
    ids = [node.id for node in memory.list(where=field("file") == name)]
    if ids:
        memory.delete(ids)


def remember(memory: NeuroGraphMemory, path: Path, metadata: dict[str, object]) -> None:
    """Add the texts of a file."""
    if path.suffix == ".json":
        memory.add(json.loads(path.read_text(encoding="utf-8")), session_id=path.stem, metadata=metadata)
    elif path.suffix == ".eml":
        mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        memory.add(text_of(mail), title=str(mail["subject"] or ""), timestamp=sent(mail), metadata=metadata)
    else:
        memory.add(path.read_text(encoding="utf-8"), metadata=metadata)


def text_of(mail: EmailMessage) -> str:
    """Return sender and text of a mail."""
    body = mail.get_body(("plain", "html"))
    return f"From {mail['from']}\n\n{body.get_content() if body else ''}".strip()


def sent(mail: EmailMessage) -> datetime | None:
    """Return the time of a mail."""
    return parsedate_to_datetime(mail["date"]) if mail["date"] else None


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
