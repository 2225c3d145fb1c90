"""Measure how stated facts relate: the triples of vault-bench, and the relation that `compare` gives each pair.

    python -m benchmarks.knowledge --data FOLDER

The folder has `vault_train.jsonl`. `benchmarks.knowledge_model` measures what a language model reads from texts.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from neurogated import MemoryConfig, NeuroGraphMemory

_KINDS = {
    "CONTRADICTION": "contradiction",
    "TEMPORAL_SUPERSESSION": "supersession",
    "REFINEMENT": "refinement",
    "DUPLICATE": "duplicate",
    "INDEPENDENT": "independent",
}


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.1f} %" if whole else "none"


def measure_vault(data: Path) -> None:
    """Five relations of vault-bench, as triples."""
    pairs = [json.loads(line) for line in (data / "vault_train.jsonl").read_text(encoding="utf-8").splitlines()]
    count = Counter[str]()
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        for pair in pairs:
            relation = memory.conflicts.compare(pair["existing"][0], pair["new"])
            expected = _KINDS[pair["expected_relation"]]
            count.update(("all", f"{expected} all", *[f"{expected} flagged"] * relation.is_conflict))
            count.update([f"{expected} right", "right"] * (relation.kind.value == expected))
    kinds = ", ".join(f"{one} {share(count[f'{one} right'], count[f'{one} all'])}" for one in _KINDS.values())
    others = list(_KINDS.values())[2:]
    alarms = ", ".join(f"{one} {share(count[f'{one} flagged'], count[f'{one} all'])}" for one in others)
    print(f"vault, triples: right {share(count['right'], count['all'])} ({kinds}); false alarms: {alarms}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how stated facts relate.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the public sets")
    measure_vault(parser.parse_args().data)


if __name__ == "__main__":
    main()
