"""Fits the confidence of recalls, and measures it on questions whose answers are or are not in a memory.

python -m benchmarks.confidence own beam --said never_said.json:dev --fit   # cross-validated by person and chat
python -m benchmarks.confidence --said never_said.json:test    # measure what is built in
python -m benchmarks.confidence beam locomo hotpot --data FOLDER --every 4

`own` is benchmarks/data/never_said_dev.json: six people, four languages. `beam` asks each question of beam_odd.json in
its own chat and in another one; its questions for abstention were never answered. `locomo` only measures, for its
licence: questions asked in their own conversation, questions of category 5 (never answered), and a third of the
questions in another conversation with its names. `hotpot` leaves the passages of every second question out. Nothing is
fitted to `--said` of `test`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.context import messages
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval import neuro_retriever
from neurogated.retrieval.ranking import EMBEDDER, Evidence, confidence, evidence_of

_OWN = Path(__file__).with_name("data") / "never_said_dev.json"
_BINS = 10
_FREEDOM = 0.3
"""Inverse regularisation of the regression over standardised measures."""
_THIRD, _ADVERSARIAL = 3, 5

Values = NDArray[np.float64]


class Question(NamedTuple):
    """A question for the memory of one user."""

    source: str
    group: str
    """Person or conversation; the folds of the cross-validation."""
    text: str
    user: str | None
    is_said: bool
    kind: str = ""


class Answer(NamedTuple):
    """A question with the measures of its recall."""

    question: Question
    evidence: Evidence


@contextmanager
def fresh() -> Iterator[NeuroGraphMemory]:
    """Open an empty memory in a temporary folder."""
    with (
        tempfile.TemporaryDirectory() as folder,
        NeuroGraphMemory(MemoryConfig(save_dir=folder).replace(metabolism={"knowledge": "slots"})) as memory,
    ):
        yield memory


def asked(memory: NeuroGraphMemory, questions: Sequence[Question]) -> Iterator[Answer]:
    """Yield the measures of the recall of each question."""
    memory.freeze()
    found: list[Evidence | None] = []

    def recorded(*given: Any) -> Evidence | None:  # noqa: ANN401 - the arguments of `evidence_of`
        found.append(evidence_of(*given))
        return found[-1]

    with patch.object(neuro_retriever, "evidence_of", recorded):
        for one in questions:
            found.clear()
            memory.recall(one.text, user_id=one.user)
            yield Answer(one, max(filter(None, found), key=lambda each: confidence(each, EMBEDDER)))


def own(memory: NeuroGraphMemory, _: Path, __: int) -> Iterator[Question]:
    """Add the messages of six people, and yield their questions."""
    for person in json.loads(_OWN.read_text(encoding="utf-8")):
        user = person["name"]
        for text in person["messages"]:
            memory.add({"role": "user", "content": text}, user_id=user)
        for name in ("said", "never"):
            for text in person[name]:
                yield Question("own", user, text, user, name == "said", person["language"])


def said(memory: NeuroGraphMemory, path: str) -> Iterator[Question]:
    """Add the messages of one split of never_said.json, and yield its questions."""
    file, _, split = path.rpartition(":")
    data = json.loads(Path(file).read_text(encoding="utf-8"))[split]
    for one in data["messages"]:
        at = datetime.fromisoformat(one["at"])
        memory.add({"role": one["role"], "content": one["text"]}, user_id="ana", timestamp=at)
    for name in ("said", "never"):
        for one in data[name]:
            yield Question(f"said {split}", split, one["question"], "ana", name == "said", one["language"])


def beam(memory: NeuroGraphMemory, folder: Path, every: int) -> Iterator[Question]:
    """Add the chats of BEAM, and yield their questions for their own chat and for the next one."""
    data = json.loads((folder / "beam_odd.json").read_text(encoding="utf-8"))
    users = [str(chat["chat"]) for chat in data]
    for user, chat in zip(users, data, strict=True):
        for content, session, moment, _ in messages(chat):
            memory.add(content, user_id=user, session_id=session, timestamp=moment)
    for place, chat in enumerate(data):
        user, other = users[place], users[(place + 1) % len(users)]
        for one in chat["questions"][::every]:
            unknown = one["category"] == "abstention"
            yield Question("beam", user, one["question"], user, not unknown, one["category"])
            if not unknown:
                yield Question("beam", user, one["question"], other, is_said=False, kind="other chat")


def locomo(memory: NeuroGraphMemory, folder: Path, every: int) -> Iterator[Question]:
    """Add the conversations of LoCoMo, and yield their questions."""
    data = json.loads((folder / "locomo_conv0-4.json").read_text(encoding="utf-8"))
    for sample in data:
        for content, session, moment, _ in messages(sample):
            memory.add(content, user_id=sample["sample_id"], session_id=session, timestamp=moment)
    for place, sample in enumerate(data):
        user, other = sample["sample_id"], data[(place + 1) % len(data)]
        here, there = sample["conversation"], other["conversation"]
        for number, one in enumerate(sample["qa"][::every]):
            unknown, text = one["category"] == _ADVERSARIAL, one["question"]
            yield Question("locomo", user, text, user, not unknown, "adversarial" if unknown else "")
            if not unknown and number % _THIRD == 0:
                for name in ("speaker_a", "speaker_b"):
                    text = text.replace(here[name], there[name])
                yield Question("locomo", user, text, other["sample_id"], is_said=False, kind="other conversation")


def hotpot(memory: NeuroGraphMemory, folder: Path, every: int) -> Iterator[Question]:
    """Add passages without those of every second question, and yield the questions."""
    questions = json.loads((folder / "hotpotqa100.json").read_text(encoding="utf-8"))[::every]
    gold = [{one["idx"] for one in question["paragraphs"] if one["is_supporting"]} for question in questions]
    gone = set[int]().union(*gold[1::2]) - set[int]().union(*gold[::2])
    corpus = json.loads((folder / "hotpotqa100_corpus.json").read_text(encoding="utf-8"))
    for place, passage in enumerate(corpus):
        if place not in gone:
            memory.add(passage["text"], title=passage["title"])
    for place, question in enumerate(questions):
        yield Question("hotpot", "", question["question"], None, is_said=place % 2 == 0)


SOURCES = {"own": own, "beam": beam, "locomo": locomo, "hotpot": hotpot}


def fit(answers: Sequence[Answer]) -> None:
    """Print bias and weights over all measures and without cosines, and the cross-validated area of each source."""
    measures = np.array([one.evidence for one in answers])
    labels = np.array([one.question.is_said for one in answers])
    sources = np.array([one.question.source for one in answers])
    groups = np.array([f"{one.question.source} {one.question.group}" for one in answers])
    weights = np.zeros(len(answers))
    for source in set(sources):
        for label in (False, True):
            chosen = (sources == source) & (labels == label)
            weights[chosen] = 100 / chosen.sum()
    print("means ", np.round(np.average(measures, axis=0, weights=weights), 2))
    for name, columns in (("FITTED", [0, 1, 2, 3]), ("WITHOUT_COSINES", [2, 3])):
        chances = np.zeros(len(answers))
        for group in sorted(set(groups)):
            rest = groups != group
            bias, of = _regression(measures[rest][:, columns], labels[rest], weights[rest])
            chances[~rest] = _chances(bias + measures[~rest][:, columns] @ of)
        bias, of = _regression(measures[:, columns], labels, weights)
        print(f"{name}: bias {bias:.2f}, weights {np.round(of, 2)}, cross-validated:")
        for source in dict.fromkeys(sources):
            _report(source, chances[sources == source], labels[sources == source])


def _regression(measures: Values, labels: NDArray[np.bool_], weights: Values) -> tuple[float, Values]:
    mean, scale = measures.mean(axis=0), measures.std(axis=0)
    model = LogisticRegression(C=_FREEDOM).fit((measures - mean) / scale, labels, sample_weight=weights)
    of = model.coef_[0] / scale
    return float(model.intercept_[0] - of @ mean), of


def _chances(logits: Values) -> Values:
    chances: Values = 1 / (1 + np.exp(-logits))
    return chances


def measure(answers: Sequence[Answer]) -> None:
    """Print the area under the curve of the built-in confidence, in all and by kind, and its calibration."""
    chances = np.array([confidence(one.evidence, EMBEDDER) for one in answers])
    labels = np.array([one.question.is_said for one in answers])
    kinds = np.array([one.question.kind for one in answers])
    _report(answers[0].question.source, chances, labels, curve=True)
    for kind in dict.fromkeys(kinds[~labels]):
        # A kind of its own questions only, such as a language, or one that is compared with all questions.
        chosen = kinds == kind
        chosen = chosen if labels[chosen].any() else chosen | labels
        _report(f"  {kind}", chances[chosen], labels[chosen])


def _report(name: str, chances: Values, labels: NDArray[np.bool_], *, curve: bool = False) -> None:
    place = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    # Said and never said count the same, as in the fit.
    weights = np.where(labels, 0.5 / max(labels.sum(), 1), 0.5 / max((~labels).sum(), 1))
    gap, lines = 0.0, []
    for one in sorted(set(place)):
        here = place == one
        told, true = (float(np.average(each[here], weights=weights[here])) for each in (chances, labels))
        gap += weights[here].sum() * abs(told - true)
        lines.append(f"    {one / _BINS:.1f}-{(one + 1) / _BINS:.1f}  {here.sum():4d}  {told:.2f}  {true:.2f}")
    area = roc_auc_score(labels, chances) if 0 < labels.sum() < labels.size else float("nan")
    print(f"  {name:20s} n={labels.size:4d}  area {area:.3f}  calibration error {gap:.3f}")
    if curve:
        print("\n".join(["    confidence    n  told  said", *lines]))


def main() -> None:
    """Measure the sources, and fit them if there are several."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", choices=[*SOURCES, []])
    parser.add_argument("--data", type=Path, default=Path("dataset"), help="folder of the data sets")
    parser.add_argument("--said", action="append", default=[], metavar="FILE:SPLIT", help="a split of never_said.json")
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question")
    parser.add_argument("--fit", action="store_true", help="fit bias and weights to all sources")
    args = parser.parse_args()
    every: list[list[Answer]] = []
    for name in args.sources:
        with fresh() as memory:
            every.append(list(asked(memory, list(SOURCES[name](memory, args.data, args.every)))))
    for path in args.said:
        with fresh() as memory:
            every.append(list(asked(memory, list(said(memory, path)))))
    for answers in every:
        measure(answers)
    if args.fit:
        fit([one for answers in every for one in answers])


if __name__ == "__main__":
    main()
