"""Echoes: how many repeated memories are recognised, and how many other statements are taken for echoes.

The pairs of `tests/conflict` are a memory and a second statement, in four languages. Where both say the same, the
second one is a paraphrase; otherwise it is another fact, often by one word. Each is said as it is, and as an assistant
says it to the user. The turns of a data set are repeated word for word. Turns that were not handed out are the others.

python -m benchmarks.echoes --turns locomo_conv0-4.json
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

from neurogated import MemoryNode
from neurogated.compose import build_text_embedder, load_config
from neurogated.conflict.judge import PairJudge
from neurogated.context.echo import EchoFinder

PAIRS = Path(__file__).parent.parent / "tests" / "conflict"
SAID = {
    "I am": "you are",
    "I'm": "you're",
    "I was": "you were",
    "I've": "you've",
    "I": "you",
    "me": "you",
    "my": "your",
    "My": "Your",
    "mine": "yours",
    "Ich bin": "Du bist",
    "ich bin": "du bist",
}
FIRST = re.compile(rf"\b(?:{'|'.join(sorted(SAID, key=len, reverse=True))})\b")


def to_user(text: str) -> str:
    """Return a statement of the user as an assistant says it to her."""
    told = FIRST.sub(lambda found: SAID[found[0]], text).replace("我", "你")
    return told[:1].upper() + told[1:]


class Echoes:
    """Counts echoes."""

    def __init__(self) -> None:
        """Load the models of the default settings."""
        config = load_config()
        self._least = config.metabolism.duplicate_cosine
        self._embedder = build_text_embedder(config)
        self._judge = PairJudge(self._embedder)

    def report(self, name: str, memories: Sequence[str], said: Sequence[str]) -> None:
        """Hand out the memories by hundreds, as a process does, and print how many of `said` are echoes."""
        begin, found = time.perf_counter(), 0
        for start in range(0, len(said), 100):
            texts = memories[start : start + 100]
            vectors = self._embedder.embed_documents(texts)
            nodes = [MemoryNode(f"m{n}", *one, role="user") for n, one in enumerate(zip(texts, vectors, strict=True))]
            finder = EchoFinder(self._judge, self._embedder, nodes, self._least)
            found += sum(bool(finder.repeated(one)) for one in said[start : start + 100])
        took = 1000 * (time.perf_counter() - begin) / len(said)
        print(f"{name}: {found} of {len(said)} are echoes ({100 * found / len(said):.1f} %), {took:.0f} ms each")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=Path, help="a file of LoCoMo")
    arguments = parser.parse_args()
    lines = [
        line.split("\t")
        for name in ("duplicates.tsv", "near_duplicates.tsv")
        for line in (PAIRS / name).read_text(encoding="utf-8").splitlines()[1:]
    ]
    echoes = Echoes()
    for what, same in (("paraphrases", "1"), ("other facts", "0")):
        first, second = zip(*((one, other) for _, is_same, one, other in lines if is_same == same), strict=True)
        echoes.report(f"{what}, as they are", first, second)
        echoes.report(f"{what}, to the user", first, [to_user(one) for one in second])
        if same == "1":
            echoes.report("word for word", first, first)
            echoes.report("word for word, to the user", first, [to_user(one) for one in first])
    if arguments.turns:
        talks = [one["conversation"] for one in json.loads(arguments.turns.read_text(encoding="utf-8"))]
        said = [
            turn["text"] for talk in talks for name in talk if re.fullmatch(r"session_\d+", name) for turn in talk[name]
        ]
        turns = [text for text in dict.fromkeys(said) if len(text.split()) > 3][:400]
        echoes.report("turns, word for word", turns[:200], turns[:200])
        echoes.report("turns, others", turns[:200], turns[200:])


if __name__ == "__main__":
    main()
