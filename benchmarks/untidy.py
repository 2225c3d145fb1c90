"""Recall on a data set whose questions are asked as people type: with words around them, errors, or no punctuation.

    python -m benchmarks.untidy hotpotqa100 --folder DATA
    python -m benchmarks.untidy locomo_conv0-4 --folder DATA --format locomo

The table has recall in percent, and in brackets points against the questions as they are, with the 95 % interval of a
paired bootstrap. The memory is frozen while it is measured.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.arguments import chosen, dataset_parser
from neurogated import NeuroGraphMemory
from neurogated.evaluation.datasets import Dataset
from neurogated.evaluation.gold import PERCENT, paired_bootstrap, recall_at
from neurogated.evaluation.runner import index, rank

CUTOFFS = (2, 5, 10)
_SHORTEST, _SHARE = 5, 0.2


def _with_errors(question: str, error: Callable[[str, int], str]) -> str:
    """Return a question with an error at some place of a fifth of the words of five or more letters."""
    chance = random.Random(question)  # noqa: S311 - no secret

    def changed(found: re.Match[str]) -> str:
        word = found[0]
        return word if chance.random() >= _SHARE else error(word, chance.randrange(1, len(word) - 2))

    return re.sub(rf"[^\W\d_]{{{_SHORTEST},}}", changed, question)


def _misspelt(question: str) -> str:
    return _with_errors(question, lambda word, at: word[:at] + word[at + 1] + word[at] + word[at + 2 :])


def _shortened(question: str) -> str:
    return _with_errors(question, lambda word, at: word[:at] + word[at + 1 :])


KINDS: dict[str, Callable[[str], str]] = {
    "greeting": lambda asked: f"Hi there! I hope you are having a wonderful day. {asked}",
    "story": lambda asked: f"I just came back from the shops and it rained so hard that my shoes are wet. {asked}",
    "afterwards": lambda asked: f"{asked} Thanks a lot, no rush, we talked about this at dinner and I got curious.",
    "around": lambda asked: f"My colleagues are so loud today and the coffee is gone. {asked} I have to run now.",
    "misspelt": _misspelt,
    "another language": lambda asked: f"今天上班好累啊，刚刚才到家。{asked}",
    "lower case, no punctuation": lambda asked: re.sub(r"[^\w\s]", "", asked.lower()),
    "capitals": str.upper,
    "emoji": lambda asked: f"🙏🙏 {asked} 🤔😅😅",
    "fillers": lambda asked: f"Um, so like, you know, {asked} lol haha",
    "favour": lambda asked: f"I need your help with this one, if it isn't too much trouble: {asked}",
    "bet": lambda asked: f"My friend bet me that you wouldn't know, so {asked}",
    "kind": lambda asked: f"Would you be so kind as to let me know, {asked}",
    "recalling": lambda asked: f"Hey buddy, I was trying to recall something and you may know, {asked}",
    "dumb": lambda asked: f"ok so this is probably a dumb question but {asked}",
    "for a friend": lambda asked: f"{asked} (asking for a friend)",
    "urgent": lambda asked: f"URGENT!!! {asked} !!!",
    "mail": lambda asked: f"Re: your last message — {asked} Best regards, Tom",
    "quotation": lambda asked: f"> as discussed last week\n\n{asked}\n\nSent from my iPhone",
    "broken lines": lambda asked: "\n".join(re.findall(r"(?:\S+\s*){1,4}", asked)),
    "letters missing": _shortened,
    "assistant": lambda asked: re.sub(
        r"[^\w\s]", "", f"hey assistant can you look something up for me {asked}"
    ).lower(),
    "languages around": lambda asked: f"Entschuldigung, ich bin gerade im Zug. {asked} Merci beaucoup, à bientôt.",
    "instruction": lambda asked: f"Answer in one short sentence and don't make anything up. {asked}",
    "polite": lambda asked: f"Sorry to bother you, but could you please tell me, if you don't mind, {asked}",
}


def recalls(memories: list[NeuroGraphMemory], dataset: Dataset, kind: Callable[[str], str]) -> NDArray[np.float64]:
    """Return (questions, cutoffs) recall in percent over the questions with gold passages."""
    return np.array(
        [
            [PERCENT * recall_at(ranked, question.gold, k) for k in CUTOFFS]
            for memory, part in zip(memories, dataset.collections, strict=True)
            for question in part.questions
            if question.gold
            for ranked, _ in (rank(memory, kind(question.text)),)
        ]
    )


def main() -> None:
    """Print the table of the data set of the command line."""
    dataset, config = chosen(dataset_parser(__doc__).parse_args())
    with NeuroGraphMemory(config) as memory:
        memories = index(dataset, memory)
        for one in memories:
            one.freeze(lasting=False)
        tidy = recalls(memories, dataset, str)
        print(f"| {len(tidy)} questions | " + " | ".join(f"recall@{k}" for k in CUTOFFS) + " |")
        print("|---" * (1 + len(CUTOFFS)) + "|")
        print("| as they are | " + " | ".join(f"{mean:.1f}" for mean in tidy.mean(axis=0)) + " |")
        for name, kind in KINDS.items():
            measured = recalls(memories, dataset, kind)
            cells = (
                f"{column.mean():.1f} ({paired_bootstrap(column, before)})"
                for column, before in zip(measured.T, tidy.T, strict=True)
            )
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
