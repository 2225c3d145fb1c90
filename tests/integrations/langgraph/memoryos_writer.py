"""Saves named pairs from several threads, and acknowledges each: `writer.py FOLDER PROCESS THREADS COUNT [DONE…]`.

Each DONE is `SESSION:NUMBER`, the pairs that were acknowledged before.
"""

import sys
import threading

from neurogated.integrations.langgraph.memoryos import MemoryOS
from tests.integrations.langgraph.words import WordEmbeddings


def main(folder: str, process: str, threads: int, count: int, done: dict[str, int]) -> None:
    """Save the pairs of all sessions that are not done."""
    memory = MemoryOS(embedding=WordEmbeddings(), storage_dir=folder, short_term_max_capacity=5)
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def save(session: str) -> None:
        for number in range(done.get(session, 0), count):
            memory.save_memory("ana", session, f"{session} says {number}", "Noted.", page_id=f"{session}:{number}")
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
