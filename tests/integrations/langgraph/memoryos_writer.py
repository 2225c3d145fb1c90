"""Saves named pairs from several threads, and acknowledges each: `writer.py FOLDER PROCESS THREADS COUNT [DONE…]`.

Each DONE is `SESSION:NUMBER`, the pairs that were acknowledged before. The process has a user of its own. For each pair
it also puts two items in one batch, reads them back, and looks for those of others.
"""

import sys
import threading

from langgraph.store.base import PutOp

from neurogated.integrations.langgraph.memoryos import MemoryOS
from tests.integrations.langgraph.words import WordEmbeddings

LONG = "flour and slate " * 50


def main(folder: str, process: str, threads: int, count: int, done: dict[str, int]) -> None:
    """Save the pairs of all sessions that are not done."""
    memory = MemoryOS(embedding=WordEmbeddings(), storage_dir=folder, short_term_max_capacity=5)
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def save(session: str) -> None:
        user = f"user-{process}"
        for number in range(done.get(session, 0), count):
            key = f"{session}:{number}"
            memory.save_memory(user, session, f"{session} says {number}", "Noted.", page_id=key)
            halves = [PutOp((side, user), key, {"text": f"{LONG}{key}"}) for side in ("left", "right")]
            memory.store.batch(halves)
            for side in ("left", "right"):
                item = memory.store.get((side, user), key)
                assert item is not None
                assert item.value == {"text": f"{LONG}{key}"}
            found = [item.key for item in memory.store.search(("left", user), query=f"flour {key}", limit=20)]
            found += [
                page for hit in memory.search_memory(user, f"What says {number}?", 20).hits for page in hit.evidence
            ]
            assert found
            assert all(one.startswith(process) for one in found), found
            sys.stdout.write(f"{session}:{number + 1}\n")
            sys.stdout.flush()

    running = [threading.Thread(target=save, args=(f"{process}{thread}",)) for thread in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    memory.flush()
    memory.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), {
        session: int(number) for session, number in (done.split(":") for done in sys.argv[5:])
    })  # fmt: skip
