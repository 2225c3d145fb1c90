"""`Dissonance`: the calls by which a memory compares statements."""

from __future__ import annotations

import functools

from neurogated.conflict.judge import Content, PairJudge
from neurogated.core.arguments import names_arguments
from neurogated.core.judgements import Relation
from neurogated.wired import Wired

__all__ = ["Dissonance"]


@names_arguments
class Dissonance(Wired):
    """Base of `NeuroGraphMemory` with the calls about contradictions."""

    @functools.cached_property
    def _pair_judge(self) -> PairJudge:
        return PairJudge(self._parts.embedder)

    def compare(self, first: Content, second: Content) -> Relation:
        """Return how two statements relate; nothing is stored.

        Args:
            first: a text, or a fact: a mapping with `subject`, `attribute` and `value`. A text with times is a mapping
                with `content`. Either may have `timestamp` (when it was said), `valid_from` and `valid_to`.
            second: another.

        Returns:
            A contradiction, supersession, refinement, duplicate or independent pair, with confidence and reason. A
            contradiction has an outcome: the first statement is superseded or wrong, or both are contested.

        Raises:
            InputError: a fact lacks a part, a time cannot be read, or a text has more than 4,000 characters.
        """
        return self._pair_judge.compare(first, second)

    def _clear_caches(self) -> None:
        super()._clear_caches()
        self._parts.statement_judge.clear()
        if "_pair_judge" in vars(self):
            self._pair_judge.clear()
