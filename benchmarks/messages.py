"""The time to add one message to a large memory, besides embedding, and whether a search finds it at once.

python -m benchmarks.messages --memories 100000 --messages 1000 --conversations DATA/locomo_conv0-4.json
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.many_users import fill, sample_text
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.embedding.registry import HashEmbedder
from neurogated.evaluation.datasets import load_locomo
from neurogated.session.compose import build

_EACH = 100
_PARTS = 5
_SYNCED = 32_768
Message = tuple[str, str, dict[str, object]]
"""User, session, and the message itself."""


class Timed(HashEmbedder):
    """Counts the wall and processor seconds of embedding."""

    took = worked = 0.0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length."""
        begin, used = time.perf_counter(), time.thread_time()
        vectors = super().embed_documents(texts)
        self.took += time.perf_counter() - begin
        self.worked += time.thread_time() - used
        return vectors


def main(words: Sequence[str] | None = None) -> None:
    """Build the memory, add one message per call, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000, help="memories before the messages")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--conversations", type=Path, help="a file of LoCoMo; messages are generated when left out")
    parser.add_argument("--one-user", action="store_true", help="all memories and messages belong to one user")
    parser.add_argument("--one-session", action="store_true", help="all messages belong to one session")
    arguments = parser.parse_args(words)
    users = 1 if arguments.one_user else max(1, arguments.memories // _EACH)
    said: Iterator[Message] = _generated() if arguments.conversations is None else _read(arguments.conversations)
    with tempfile.TemporaryDirectory() as folder:
        config = MemoryConfig(save_dir=folder, embedding_name="hash")
        with NeuroGraphMemory(config) as memory:
            fill(memory, users, arguments.memories // users, np.random.default_rng(0))
        embedder = Timed()
        # Opened again, so that no background work runs beside the messages.
        with NeuroGraphMemory(config, parts=dataclasses.replace(build(config), embedder=embedder)) as memory:
            figures = []
            for user, session, message in islice(said, arguments.messages):
                owner = "user 0" if arguments.one_user else user
                figures.append(_add(memory, embedder, owner, "one" if arguments.one_session else session, message))
            print(f"{len(memory.store):,} memories in the end")
        _print(figures)
        print(
            f"of it, writing {_SYNCED >> 10} KiB to a file and fsync alone: {_sync_milliseconds(Path(folder)):.2f} ms"
        )


def _add(
    memory: NeuroGraphMemory, embedder: Timed, user: str, session: str, message: dict[str, object]
) -> tuple[float, float, bool]:
    """Add a message; return its milliseconds of wall and processor time, and whether a search finds it."""
    used, begin = time.thread_time() - embedder.worked, time.perf_counter() - embedder.took
    ids = memory.add(message, user_id=user, session_id=session)
    took = time.perf_counter() - begin - embedder.took
    worked = time.thread_time() - used - embedder.worked
    node = memory.store.get_node(ids[0])
    assert node.embedding is not None
    found = ids[0] in [one.id for one, _ in memory.store.vector_search(node.embedding, 3)]
    return 1000 * took, 1000 * worked, found


def _print(figures: Sequence[tuple[float, float, bool]]) -> None:
    took, worked, found = zip(*figures, strict=True)
    print(f"a message: median {statistics.median(took):.2f} ms, at best {min(took):.2f}")
    print(f"  95th percentile {np.percentile(took, 95):.2f} ms")
    print(f"  processor time: median {statistics.median(worked):.2f} ms, at best {min(worked):.2f}")
    parts = [part.tolist() for part in np.array_split(np.array(took), _PARTS) if part.size]
    print(f"  medians from the first messages to the last: {', '.join(f'{statistics.median(p):.2f}' for p in parts)}")
    print(f"  found at once: {100 * sum(found) / len(found):.1f} %")


def _generated() -> Iterator[Message]:
    random = np.random.default_rng(1)
    while True:
        for role in ("user", "assistant"):
            yield "somebody", "a session", {"role": role, "content": sample_text(random)}


def _read(path: Path) -> Iterator[Message]:
    for collection in load_locomo(path.stem, path.parent).collections:
        for number, session in enumerate(collection.documents):
            for passage in session.passages:
                message = {"role": "user", "name": passage.speaker, "content": passage.text}
                yield collection.namespace, f"session {number}", message


def _sync_milliseconds(folder: Path) -> float:
    took = []
    with (folder / "synced").open("wb") as file:
        for _ in range(_EACH):
            begin = time.perf_counter()
            file.write(bytes(_SYNCED))
            file.flush()
            os.fsync(file.fileno())
            took.append(time.perf_counter() - begin)
    return 1000 * statistics.median(took)


if __name__ == "__main__":
    main()
