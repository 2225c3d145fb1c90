"""The judgement of a language model on pairs of memories."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.conflicts import moment_of
from neurogated.core.deadline import answer_within
from neurogated.core.judgements import Relation, RelationKind, Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.ports import LanguageModel, Message
from neurogated.errors import LLMError
from neurogated.knowledge.origin import statements_in
from neurogated.knowledge.uncertain import UncertainPair
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.strings import one_line

__all__ = ["ModelJudge"]

# Most characters of a memory that the model reads.
_CHARACTERS = 600

_LONGEST_REASON, _READ = 120, 2000
"""Characters of a reason that are kept, and that are read."""
_KINDS: dict[str, tuple[RelationKind, Verdict | None]] = {
    "contradiction": (RelationKind.CONTRADICTION, "contested"),
    "correction": (RelationKind.CONTRADICTION, "wrong"),
    "change": (RelationKind.SUPERSESSION, None),
    "detail": (RelationKind.REFINEMENT, None),
    "same": (RelationKind.DUPLICATE, None),
    "none": (RelationKind.INDEPENDENT, None),
}


class ModelJudge:
    """Asks a language model about several pairs in one call. The prompt has texts and days, and no ids."""

    def __init__(self, model: LanguageModel, prompts: PromptTemplateManager, config: MemoryConfig) -> None:
        self._model = model
        self._prompts = prompts
        self._config = config

    def judge(self, pairs: Sequence[UncertainPair], seconds: float | None = None) -> list[Relation | None]:
        """Return the relation of each pair; None for a pair that the answer leaves out.

        Args:
            pairs: the pairs.
            seconds: how long to wait for the answer; None: as long as the model takes. The cache keeps a late answer.

        Raises:
            LLMError: the model failed, or took longer.
        """
        lines = [json.dumps(self._shown(number, pair), ensure_ascii=False) for number, pair in enumerate(pairs, 1)]
        messages = self._prompts.render("contradiction", pairs="\n".join(lines))
        answer = self._asked(messages, seconds)
        # A number that occurs twice is no clear answer.
        times = Counter(entry["pair"] for entry in answer["pairs"])
        found = {entry["pair"]: entry for entry in answer["pairs"] if times[entry["pair"]] == 1}
        return [self._relation(found[number]) if number in found else None for number in range(1, len(pairs) + 1)]

    def _asked(self, messages: Sequence[Message], seconds: float | None) -> Any:  # noqa: ANN401 - JSON
        def ask() -> Any:  # noqa: ANN401 - JSON
            return self._model.infer_json(messages, self._prompts.schema("contradiction"))

        if seconds is None:
            return ask()
        try:
            return answer_within(seconds, ask, "conflicts")
        except TimeoutError:
            raise LLMError(
                f"the language model did not judge the conflicts within {seconds:g} seconds; raise "
                "metabolism.conflict_deadline or choose a faster model"
            ) from None

    def _relation(self, entry: dict[str, Any]) -> Relation:
        kind, outcome = _KINDS[entry["relation"]]
        confidence = self._config.llm.strength(entry["certainty"])
        return Relation(kind, confidence, one_line(entry["reason"][:_READ])[:_LONGEST_REASON], outcome)

    def _shown(self, number: int, pair: UncertainPair) -> dict[str, Any]:
        earlier, later = (pair.old, pair.sentences[0]), (pair.new, pair.sentences[1])
        if moment_of(pair.new) < moment_of(pair.old):
            earlier, later = later, earlier
        return {"pair": number, "earlier": self._quoted(*earlier), "later": self._quoted(*later)}

    def _quoted(self, node: MemoryNode, place: int) -> dict[str, str]:
        day = node.valid_from or node.timestamp
        text = _around(statements_in(node), place, _CHARACTERS)
        return {**({} if day is None else {"day": day.date().isoformat()}), "text": text}


def _around(sentences: Sequence[str], place: int, most: int) -> str:
    """Return a sentence with as many of its neighbours as fit, the nearest first."""
    if not sentences:
        return ""
    place = min(place, len(sentences) - 1)
    chosen = {place: sentences[place][:most]}
    left = most - len(chosen[place])
    for other in sorted(range(len(sentences)), key=lambda one: (abs(one - place), one)):
        if other not in chosen and len(sentences[other]) < left:
            chosen[other] = sentences[other]
            left -= len(sentences[other]) + 1
    return " ".join(chosen[one] for one in sorted(chosen))
