"""Explains a recall of a memory by a page, and writes the page to a file."""

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
from neurogated.viewer.subgraph import subgraph_of


def explain(memory: NeuroGraphMemory, recall: Recall, store: GraphStorePort | None = None) -> str:
    """Return the page of a recall, with the texts of all nodes that sent activation.

    Args:
        memory: the memory.
        recall: a recall of it.
        store: the graph of the recall, if it used `as_of`. Default: the graph of the memory.
    """
    store = memory.store if store is None else store
    passed = [vertex.id for vertex in subgraph_of(recall).vertices if vertex.rank is None]
    # The page shows the id of a node that was deleted since the recall.
    return render_recall(recall, {node.id: node for node in store.get_nodes(passed, missing_ok=True)})


def write_page(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file atomically, and return its absolute path; an existing file is replaced.

    Raises:
        InputError: the file cannot be written.
    """
    remedy = "choose another file for the page"
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise InputError(f"{path} is not a file; {remedy}")
        # A unique name lets two threads write at once. The same folder keeps the renaming within one file system.
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
