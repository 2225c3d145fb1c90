"""The judgement of a model on pairs of memories that no slot connects."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.judgements import Relation, RelationKind, Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort, LanguageModel
from neurogated.core.view import GraphView
from neurogated.errors import LLMError
from neurogated.knowledge.backlog import Answers
from neurogated.knowledge.checker import WAITING, ConflictChecker
from neurogated.knowledge.origin import sentence_of, statements_in
from neurogated.knowledge.pairs import CandidateFinder, TextPair
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.strings import one_line

# Most characters of a memory that the model reads, and of those before the sentence that matters.
_CHARACTERS, _BEFORE = 600, 150

_CONTRADICTION = "contradict"
"""How the name of the class of a cross-encoder begins."""

# Least confidence of the model from which a conflict is recorded.
_CONFIDENCE = 0.5
# Most pairs in one call, or all those of one new memory: the answer stays below the usual limit of tokens.
_TOGETHER = 8

_LONGEST_REASON, _READ = 120, 2000
"""Characters of a reason that are kept, and that are read."""
_KINDS: dict[str, tuple[RelationKind, Verdict | None]] = {
    "contradiction": (RelationKind.CONTRADICTION, "contested"),
    "changed": (RelationKind.SUPERSESSION, "contested"),
    "unrelated": (RelationKind.INDEPENDENT, None),
}


class TextJudge(Protocol):
    """Decides how two texts of one speaker relate."""

    def judge(self, pairs: Sequence[TextPair]) -> list[Relation | None]:
        """Return the relation of each pair, None for a pair without an answer. Raises LLMError."""


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Asks a language model about several pairs in one call. The prompt has texts and days, and no ids."""

    model: LanguageModel
    prompts: PromptTemplateManager
    config: MemoryConfig

    def judge(self, pairs: Sequence[TextPair]) -> list[Relation | None]:
        lines = list[str]()
        for number, pair in enumerate(pairs, 1):
            earlier, later = (_quoted(*side) for side in in_order(pair))
            known = {"known": list(pair.known)} if pair.known else {}
            shown = {"pair": number, "earlier": earlier, "later": later, **known}
            lines.append(json.dumps(shown, ensure_ascii=False))
        messages = self.prompts.render("contradiction", pairs="\n".join(lines))
        answer = self.model.infer_json(messages, self.prompts.schema("contradiction"))
        # A number that occurs twice is no clear answer.
        times = Counter(entry["pair"] for entry in answer["pairs"])
        found = {entry["pair"]: entry for entry in answer["pairs"] if times[entry["pair"]] == 1}
        relations: list[Relation | None] = [None] * len(pairs)
        for number, entry in found.items():
            if 0 < number <= len(pairs):
                kind, outcome = _KINDS[entry["relation"]]
                reason = one_line(entry["reason"][:_READ])[:_LONGEST_REASON]
                relations[number - 1] = Relation(kind, self.config.llm.strength(entry["certainty"]), reason, outcome)
        return relations


def in_order(pair: TextPair) -> tuple[tuple[MemoryNode, int], tuple[MemoryNode, int]]:
    """Return both memories in the order in which they were said, each with the place of its sentence."""
    sides = (pair.old, pair.sentences[0]), (pair.new, pair.sentences[1])
    return sides[::-1] if pair.new.moment < pair.old.moment else sides


def _quoted(node: MemoryNode, place: int) -> dict[str, str]:
    day = node.valid_from or node.timestamp
    sentences = statements_in(node)
    before = len(" ".join(sentences[:place]))
    begin = max(0, before - _BEFORE) if sum(map(len, sentences)) > _CHARACTERS else 0
    text = " ".join(sentences)[begin : begin + _CHARACTERS]
    return {**({} if day is None else {"day": day.date().isoformat()}), "text": text}


class PairClassifier(Protocol):
    """A model that puts pairs of texts into classes: (n, classes) probabilities. Raises LLMError."""

    @property
    def labels(self) -> Sequence[str]: ...
    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]: ...


@dataclass(frozen=True, slots=True)
class CrossEncoderJudge:
    """Judges two sentences by a model of classes, which must find a contradiction in both directions."""

    model: PairClassifier
    threshold: float = 0.5
    """The probability from which a class counts."""

    def judge(self, pairs: Sequence[TextPair]) -> list[Relation | None]:
        """Return the relation of each pair; raises LLMError, also if no class is one of contradictions."""
        texts = [(sentence_of(*earlier), sentence_of(*later)) for earlier, later in map(in_order, pairs)]
        labels = [label.casefold() for label in self.model.labels]
        places = [place for place, label in enumerate(labels) if label.startswith(_CONTRADICTION)]
        if len(places) != 1:
            raise LLMError(
                f"the classes of the cross-encoder are {', '.join(labels) or 'unnamed'}, but id2label in config.json "
                "must name one of them contradiction"
            )
        found = self.model.probabilities([*texts, *((later, earlier) for earlier, later in texts)])[:, places[0]]
        in_both = np.minimum(found[: len(texts)], found[len(texts) :]).tolist()
        return [
            Relation(RelationKind.CONTRADICTION, one, "", "contested")
            if one >= self.threshold
            else Relation(RelationKind.INDEPENDENT, 1 - one, "")
            for one in in_both
        ]


class PairEnquiry:
    """Asks a judge about the memories that a new one may contradict, and records the conflicts; see `Enquiry`."""

    kind = WAITING
    together = _TOGETHER

    def __init__(self, store: GraphStorePort, checker: ConflictChecker, judge: TextJudge, after: str | None) -> None:
        self._checker = checker
        self._judge = judge
        self._finder = CandidateFinder(store)
        self.after = after

    def questions(self, view: GraphView, node: MemoryNode, is_later: Callable[[str], bool]) -> Sequence[TextPair]:
        """Return the pairs of a memory. A pair belongs to the memory that was queued later, so it is judged once."""
        finders = (self._finder.disputed, self._finder.in_slots, self._finder.pairs)
        found = chain.from_iterable(find(view, node, is_later) for find in finders)
        # Those that are found first know the conflict, if there is one.
        return list({pair.old.id: pair for pair in reversed(list(found))}.values())[::-1]

    def ask(self, questions: Sequence[TextPair]) -> Sequence[Relation | None]:
        return self._judge.judge(list(map(self._finder.with_known, questions)))

    def delta(self, answers: Answers[TextPair, Relation], settled: Sequence[PendingTask], at: datetime) -> GraphDelta:
        sure = [answer for answer in answers if answer[1].confidence >= _CONFIDENCE]
        return self._checker.judged(sure, settled, at)

    def unused(self, answers: Answers[TextPair, Relation]) -> Mapping[str, int]:
        number = sum(relation.confidence < _CONFIDENCE for _, relation in answers)
        return {"an uncertain judgement": number} if number else {}
