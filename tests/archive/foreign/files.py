"""Files as other systems write them, and what the readers find in them."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neurogated.archive.foreign import Fault, Incoming, Left, Note, read_file
from neurogated.ingestion.messages import read_message

BEGIN = 1_700_000_000.0


def written(path: Path, value: object) -> Path:
    """Write a value as JSON, and return the path."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def records(source: str | None, path: Path) -> list[Any]:
    """Return all records of a file."""
    return list(read_file(source, path, read_message))


def texts(source: str | None, path: Path) -> list[Incoming]:
    """Return the texts of a file in the branches that were seen last. The file must have no fault."""
    found = records(source, path)
    assert not [one for one in found if isinstance(one, Fault)]
    return [one for one in found if isinstance(one, Incoming) and one.branch is None]


def both(source: str | None, path: Path) -> tuple[list[str], list[str]]:
    """Return the texts of a file in the branches that were seen last, and the places of its faults."""
    found = records(source, path)
    said = [one.text for one in found if isinstance(one, Incoming) and one.branch is None]
    return said, [one.place for one in found if isinstance(one, Fault)]


def left(source: str | None, path: Path) -> dict[str, int]:
    """Return the number of records that are left out, by reason."""
    counts = Counter[str]()
    for one in records(source, path):
        if isinstance(one, Left):
            counts[one.reason] += one.count
    return dict(counts)


def notes(source: str | None, path: Path) -> list[str]:
    """Return the notes on a file."""
    return [str(one) for one in records(source, path) if isinstance(one, Note)]


def chatgpt(
    said: Sequence[tuple[str, str]], name: str = "c1", *, begin: float | None = BEGIN, **changes: object
) -> dict[str, Any]:
    """Return a conversation of ChatGPT without branches; a message each minute."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for number, (role, text) in enumerate(said):
        key = f"{name}-{number}"
        time = None if begin is None else begin + 60 * number
        nodes[key] = chatgpt_node(parent, role, text, time)
        nodes[parent]["children"].append(key)
        parent = key
    whole = {"conversation_id": name, "title": f"About {name}", "create_time": begin, "mapping": nodes}
    return {**whole, "current_node": parent, **changes}


def chatgpt_node(parent: str | None, role: str, text: str, time: object = BEGIN, **changes: object) -> dict[str, Any]:
    """Return a node with a message."""
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": role}, "create_time": time, "content": content, "metadata": {}, "recipient": "all"}
    return {"message": {**message, **changes}, "parent": parent, "children": []}


def claude(said: Sequence[tuple[str, str]], name: str = "c1", **changes: object) -> dict[str, Any]:
    """Return a conversation of Claude, a message each minute."""
    messages = [
        {
            "uuid": f"{name}-{number}",
            "sender": sender,
            "text": text,
            "content": [{"type": "text", "text": text}],
            "created_at": f"2026-03-01T12:{number:02}:00.000000Z",
        }
        for number, (sender, text) in enumerate(said)
    ]
    return {"uuid": name, "name": f"About {name}", "chat_messages": messages, **changes}
