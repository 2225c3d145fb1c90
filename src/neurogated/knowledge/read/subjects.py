"""Who or what a clause is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neurogated.core.claims import Slot
from neurogated.knowledge.read.clauses import Clause
from neurogated.knowledge.read.matching import Match
from neurogated.knowledge.read.wordings import SUBJECT, Language, language
from neurogated.text.normalise import Token

_MOST_WORDS, _MOST_BARE = 6, 2
"""Words of a subject, and of one without article and capitals."""
_MOST_NOUN = 3


class Subjects:
    """The subjects of one text, in order, so that pronouns and clauses without a subject can be understood."""

    def __init__(self, speaker: str) -> None:
        """Take the subject that "I" means."""
        self._own, self.speaker = language("en"), speaker
        self._last: str | None = None
        """The last subject besides the speaker, which "he", "she" or "it" means."""
        self._current: str | None = speaker
        """The subject of the clause before, which a clause without one shares."""
        self._first, self._is_unclear = "", False
        """The first word of the clause, and whether the clause before was not understood."""
        self._introduced: list[tuple[Slot, str]] = []

    @property
    def is_fresh(self) -> bool:
        """Whether the sentence has named no subject yet, so that a verb without one is a command."""
        return self._current is None

    def begin_sentence(self, own: Language) -> None:
        """Forget the subject of the clause before; the sentence has a language of its own."""
        self._own, self._current, self._first = own, None, ""

    def begin_clause(self, clause: Clause) -> None:
        """Take the speaker as the subject of a clause that begins with "I", and of those after it."""
        words = zip(clause.tokens, clause.labels, strict=True)
        first = next((token.word for token, label in words if not label), "")
        self._is_unclear = bool(self._first) and self._current is None
        self._first = first
        if first in self._own.words["me"]:
            self._current = self.speaker

    def introduced(self) -> list[tuple[Slot, str]]:
        """Return persons named beside what they are to the speaker since the last call, as in "my sister Anna"."""
        found, self._introduced = self._introduced, []
        return found

    def named(self, clause: Clause, match: Match) -> str | None:
        """Return the subject of a match; None if its words are no person or thing."""
        begin, end = match.subject
        while begin < end and clause.labels[begin]:
            begin += 1
        while begin < end and clause.labels[end - 1] and clause.tokens[end - 1].word != "'s":
            end -= 1
        if not self._own.has_spaces:
            marks = self._own.words["possessive"]
            end = next((n for n in range(begin, end) if clause.labels[n] and clause.tokens[n].word not in marks), end)
        tokens = [
            token
            for token, label in zip(clause.tokens[begin:end], clause.labels[begin:end], strict=True)
            if not label or token.word == "'s" or token.raw[:1].isupper()
        ]
        found = self._named(tokens, is_owner=match.is_owner) if tokens else self._unnamed(clause, match)
        self._current = found or self._current
        if found and found != self.speaker:
            self._last = found
        return found

    def _unnamed(self, clause: Clause, match: Match) -> str | None:
        """Return the subject of the clause before, or the speaker where the verb is no command: "Moved to Ghent"."""
        verb = clause.tokens[match.used[0]].word
        has_subject = any(element.kind == SUBJECT for element in match.wording.elements)
        if has_subject and verb in self._own.conjugation.first:
            return self.speaker
        if has_subject and verb in self._own.conjugation.third:
            return self._last
        if self._current is not None:
            return self._current
        if self._is_unclear and clause.is_joined:
            return None
        is_command = self._own.has_spaces and verb in self._own.lemmas
        begins = match.wording.elements[0].kind == SUBJECT
        return self.speaker if not (begins and is_command) else None

    def _named(self, tokens: Sequence[Token], *, is_owner: bool) -> str | None:
        words = self._own.words
        if is_owner and tokens[-1].word in words["possessive"] and len(tokens) > 1:
            tokens = tokens[:-1]
        first = tokens[0].word
        if all(token.word in words["me"] for token in tokens) or (
            is_owner and len(tokens) == 1 and first in words["mine"] | words["definite"]
        ):
            return self.speaker
        if len(tokens) == 1 and first in words["third"] | (words["theirs"] if is_owner else frozenset()):
            return self._last
        is_bare = not self._own.has_spaces and len(tokens) == 1
        return self._noun(tokens) if len(tokens) <= _MOST_WORDS and not is_bare else None

    def _noun(self, tokens: Sequence[Token]) -> str | None:
        """Return the name or noun of a subject: "Anna" for "my sister Anna"; None if it is neither."""
        words, joint = self._own.words, self._own.joint
        is_mine = tokens[0].word in words["mine"]
        if is_mine and not joint:
            tokens = [tokens[0], *(token for token in tokens[1:] if token.word not in words["me"])]
        is_noun = is_mine or tokens[0].word in words["theirs"] | words["articles"]
        rest = tokens[1:] if is_noun else tokens
        while not joint and rest and rest[0].word in words["articles"]:
            rest = rest[1:]
        if rest and rest[0].word in words["possessive"] and rest[0].word != "'s":
            rest = rest[1:]
        if not rest or any(token.word in self._not_in(is_noun=is_noun) for token in rest):
            return None
        if is_mine and not joint and not self._own.is_noun([token.word for token in tokens[1:]]):
            return None
        names = [token.raw for token in rest if token.raw[:1].isupper() and token.word not in self._own.persons]
        noun = joint.join(token.word for token in rest[: len(rest) - len(names)])
        person = self._own.persons.get(noun) or self._own.persons.get(noun.split(" ")[-1])
        if is_mine and names and person:
            self._introduced.append((Slot(self.speaker, person), joint.join(names)))
            return joint.join(names)
        if is_noun or not joint or len(names) == len(rest) or len(rest) <= _MOST_BARE:
            return joint.join(token.raw if token.raw[1:].islower() or not is_noun else token.word for token in rest)
        return None

    def _not_in(self, *, is_noun: bool) -> frozenset[str]:
        """Return the words that no subject has; a noun with an article may have prepositions: "the flight to Oslo"."""
        words = self._own.words
        return words["small"] - words["prepositions"] if is_noun else words["small"]


def owned(clause: Clause, own: Language) -> Iterator[tuple[str, str]]:
    """Yield what the speaker calls hers, as "my older brother" and "our garden" do: its attribute and its noun."""
    words = [token.word for token in clause.tokens]
    for n, word in enumerate(words, 1):
        if word not in own.words["mine"]:
            continue
        begin = n
        while not own.has_spaces and begin < len(words) and words[begin] in own.words["me"] | own.words["possessive"]:
            begin += 1
        runs = (own.joint.join(words[begin:end]) for end in range(begin + _MOST_NOUN, begin, -1))
        noun = next((run for run in runs if run in own.nouns), None)
        if noun in own.persons:
            yield own.persons[noun], noun
        elif noun is None and (bare := _bare(clause, begin, own)):
            yield "possession", bare


def _bare(clause: Clause, n: int, own: Language) -> str:
    """Return the word at a place, which may be no noun of the table; a Chinese one has two signs after 的 or 家."""
    tokens = clause.tokens
    if own.has_spaces:
        return tokens[n].raw if n < len(tokens) and not clause.labels[n] else ""
    is_led = n > 0 and tokens[n - 1].word in own.words["possessive"]
    return "".join(token.word for token in tokens[n : n + 2]) if is_led else ""
