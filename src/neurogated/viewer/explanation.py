"""From a memory and what it recalled to a page on disk."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

from neurogated.core.ports import GraphStorePort
from neurogated.core.trace import Recall
from neurogated.errors import InputError
from neurogated.memory import NeuroGraphMemory
from neurogated.viewer.page import render_recall

__all__ = ["explain", "write_page"]


def explain(memory: NeuroGraphMemory, recall: Recall, store: GraphStorePort | None = None) -> str:
    """Return the page of a recall, with the texts of the nodes on its paths that it did not return.

    Args:
        memory: what was asked.
        recall: what it brought up.
        store: the graph as it was, for a recall of the past; that of the memory when left out.
    """
    store = memory.store if store is None else store
    steps = (step for recalled in recall for step in recalled.path)
    passed = dict.fromkeys([anchor for anchor, _ in recall.anchors])
    passed |= dict.fromkeys(end for step in steps for end in (step.source_id, step.target_id))
    known = set(recall.ids)
    # What was forgotten since the recall is shown by its id.
    missing = store.get_nodes([node_id for node_id in passed if node_id not in known], missing_ok=True)
    return render_recall(recall, {node.id: node for node in missing})


def write_page(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page, whole or not at all, over what the file held before; return where it is.

    Raises:
        InputError: the file cannot be written.
    """
    remedy = "choose another file for the page"
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise InputError(f"{path} is not a file; {remedy}")
        # A name of its own in the same folder: two may write at once, and renaming stays within one file system.
        part = target.with_name(f".{uuid.uuid4().hex}.part")
        try:
            part.write_text(page, encoding="utf-8", newline="\n")
            part.replace(target)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be written ({error}); {remedy}") from error
    return target
