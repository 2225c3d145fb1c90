"""The forms of verbs, by the endings and the irregular verbs that the file of a language lists."""

from __future__ import annotations

from typing import NamedTuple


class _Rule(NamedTuple):
    """The endings of verbs with one ending of the infinitive, by tense and person."""

    removed: int
    endings: tuple[tuple[str, ...], ...]
    """Of "I", of "he" and of the past, then of "I" alone and of "he" alone in the past."""


class Conjugation:
    """Makes the forms of verbs, and knows what each form says that it made."""

    def __init__(self, lines: str) -> None:
        """Take lines such as `-ar o amos / a an / aba / é / ó`, the endings after a stem, or the forms of one verb."""
        self._rules: dict[str, _Rule] = {}
        for line in filter(None, map(str.strip, lines.replace("\n", " ").split(";"))):
            lemma, _, forms = line.partition(" ")
            groups = tuple(tuple(form.strip("_") for form in group.split()) for group in forms.split("/"))
            ending = lemma.lstrip("-")
            self._rules[lemma] = _Rule(len(ending), groups)
        self.past: set[str] = set()
        self.first: set[str] = set()
        """Forms that only "I" and "we" have."""
        self.third: set[str] = set()
        """Forms that only other persons have."""

    def forms(self, lemma: str) -> frozenset[str]:
        """Return the forms of a verb; a word that is no verb has one."""
        endings = (f"-{lemma[n:]}" for n in range(len(lemma)))
        rule = self._rules.get(lemma) or next(filter(None, map(self._rules.get, endings)), None)
        if rule is None:
            return frozenset((lemma,))
        stem = lemma[: len(lemma) - rule.removed]
        groups = [{stem + ending for ending in group} for group in rule.endings]
        present, others, past, past_first, past_third = (*groups, set(), set(), set())[:5]
        self.first |= (present | past_first) - others - past_third
        self.third |= (others | past_third) - present - past_first
        self.past |= past | past_first | past_third
        return frozenset[str]().union(*groups)
