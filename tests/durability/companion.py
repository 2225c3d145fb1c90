"""A process that writes to a memory beside others: `python companion.py FOLDER NAME COUNT`.

It adds messages until COUNT of its own are there, and prints those that are acknowledged. It also asks, learns and
forgets.
"""

import sys
from datetime import timedelta

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import IndexingSettings, RuntimeSettings
from neurogated.core.clock import utc_now


def main(folder: str, name: str, count: int) -> None:
    config = MemoryConfig(
        save_dir=folder,
        embedding_name="hash",
        indexing=IndexingSettings(chunk_size=8),
        runtime=RuntimeSettings(checkpoint_changes=200),
    )
    with NeuroGraphMemory(config) as memory:
        for number in range(count):
            text = f"{name} met heron {number}. It stood at weir {number % 7}. Then {name} walked home."
            ids = memory.add_document(text)
            sys.stdout.write(f"{number} {' '.join(ids)}\n")
            sys.stdout.flush()
            if number % 10 == 3:
                recall = memory.recall(f"Who met heron {number // 2}?")
                memory.feedback(recall.ids[:3])
            if number % 100 == 50:
                memory.maintenance(utc_now() + timedelta(days=40))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
