"""The outcomes of conflicts of a graph, and the valid times that they imply, by row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from neurogated.core.conflicts import Validity
from neurogated.core.outcomes import Outcome, Outcomes, SideTimes


@dataclass(frozen=True, slots=True)
class OutcomeChanges:
    """Changes of outcomes and of the times of their sides."""

    removed: Iterable[int] = ()
    """Rows of removed nodes."""
    outcomes: Mapping[int, Outcome[int] | None] = field(default_factory=dict)
    """The outcome of each conflict that was written, by its row; None if it is invalid or lacks a side."""
    times: Mapping[int, SideTimes] = field(default_factory=dict)
    """The given times of memories; rows that are no side of an outcome are ignored."""


@dataclass(slots=True)
class RowOutcomes:
    """Outcomes by the rows of their conflicts. The cost of a change depends on the conflicts of its memories only."""

    valid: dict[int, Validity] = field(default_factory=dict)
    """The valid times of the memories that an outcome changes."""
    _outcomes: dict[int, Outcome[int]] = field(default_factory=dict)
    _about: dict[int, frozenset[int]] = field(default_factory=dict)
    _times: dict[int, SideTimes] = field(default_factory=dict)

    def copy(self) -> RowOutcomes:
        """Return a copy."""
        return RowOutcomes(self.valid.copy(), self._outcomes.copy(), self._about.copy(), self._times.copy())

    @property
    def sides(self) -> Iterable[int]:
        """The rows of the memories that are sides of outcomes."""
        return self._about.keys()

    def has_times(self, row: int) -> bool:
        """Return whether the times of a side are known."""
        return row in self._times

    def update(self, changes: OutcomeChanges) -> dict[int, Validity]:
        """Apply changes, and return the valid times of the memories that may have changed."""
        touched = set[int]()
        for row in (*changes.removed, *changes.outcomes):
            if (old := self._outcomes.pop(row, None)) is not None:
                touched.update(old.sides)
                self._about |= {side: self._about[side] - {row} for side in old.sides}
        touched.update(row for row in changes.removed if self._times.pop(row, None) is not None)
        for row, outcome in changes.outcomes.items():
            if outcome is not None:
                self._outcomes[row] = outcome
                touched.update(outcome.sides)
                self._about |= {side: self._about.get(side, frozenset()) | {row} for side in outcome.sides}
        known = {row: times for row, times in changes.times.items() if row in self._about}
        self._times |= known
        return dict(self._recomputed(touched | known.keys()))

    def without(self, expired: Collection[int]) -> dict[int, Validity]:
        """Return the valid times that differ once memories have expired, also those that are the given ones."""
        outcomes = Outcomes(self._times.get, self._of, expired.__contains__)
        about = [outcome for row in expired for outcome in self._of(row)]
        rows = outcomes.affected(chain.from_iterable(outcome.sides for outcome in about))
        found = {row: valid for row in rows if (valid := outcomes.valid_time(row)) is not None}
        return {row: valid for row, valid in found.items() if valid != self.valid.get(row, self._times[row].validity)}

    def _of(self, row: int) -> list[Outcome[int]]:
        return [self._outcomes[name] for name in self._about.get(row, ())]

    def _recomputed(self, touched: Iterable[int]) -> Iterator[tuple[int, Validity]]:
        outcomes = Outcomes(self._times.get, self._of, lambda _: False)
        for row in outcomes.affected(touched):
            valid, given = outcomes.valid_time(row), self._times.get(row)
            if valid is None or given is None or valid == given.validity:
                self.valid.pop(row, None)
            else:
                self.valid[row] = valid
            if valid is not None:
                yield row, valid
            if not self._about.get(row):
                # It is no side any more.
                self._about.pop(row, None)
                self._times.pop(row, None)
