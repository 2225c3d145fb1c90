"""Splits a text into the words that carry meaning, with their roles, and finds whether it is negated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import Stemmer

from neurogated.core.text_caches import remembered
from neurogated.knowledge import cues
from neurogated.knowledge.moments import Moment
from neurogated.knowledge.quantities import Quantity, number_of, ordinal_of, quantities, unit_of
from neurogated.knowledge.word_relations import word_relations
from neurogated.text.keywords import fold
from neurogated.text.language import FUNCTION_WORDS, NEGATIONS
from neurogated.text.words import words_of

__all__ = ["AUXILIARIES", "HAN", "STOP", "WORD", "Token", "characters_in", "key_of", "spaces", "words_in"]

_REMEMBERED = 8_192
HAN = re.compile("[\u3400-\u9fff]")
_STEMMERS = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
WORD = re.compile(r"(?:[^\s,;!?()\[\]\"“”„«»¿¡…，。！？；：、\uff08\uff09《》]|(?<=\d),(?=\d))+")
_HAN_VERB = re.compile("[是在有叫姓住去来吃喝会说做工买卖给被生于位打重学看想要开关结抽喜讨爱恨搬追收付]")
_HAN_TOKEN = re.compile(
    r"[\u3400-\u9fff]|(?<![\w.-])[$€£]?\d+(?:[.,]\d+)*%?(?![\w-])|[^\s\u3400-\u9fff,;!?()\"“”，。！？；：、\uff08\uff09《》·]+"
)
_HAN_NUMBER = re.compile(r"[零一二两三四五六七八九十百]+(?=[个只位名岁年天次本张辆台家条元块斤公米点间名口])")
_HAN_NEGATION = re.compile("没有人|没人|无人|从来没有?|从未|没有?|不是|不会|不能|不|未|别|并非|非(?!常)|无法")
_HAN_STOP = frozenset("以被的了着吗呢吧啊呀哦嘛是在有很会要得地就都也还已过来去那这个只位名家里条")
AUXILIARIES = {
    "en": words_of("""
        is are was were be been being am has have had do does did will can could shall must should would may might
    """),
    "de": words_of("""
        ist sind war waren bin bist wird werden wurde wurden hat haben hatte hatten kann muss soll will habe
    """),
    "es": words_of("es son era eran fue fueron está están estaba estoy soy ha han he tiene tienen tenía hay"),
    "fr": words_of("est sont était étaient a ont avait suis"),
}
"""Helping verbs by language: "son" is one in Spanish only."""
STOP = FUNCTION_WORDS["en"] | words_of("""
        am being does did doing having into out up off over under again further then once here there all any
        both each few more most other some such own same too very just also still already yet really it's
        that's there's is it this that these those called named
    """)
_KEPT = frozenset(["no", "not", "never"])
_SAME_WORD = re.compile(r"(?:'|’)s?$")


@dataclass(frozen=True, slots=True)
class Token:
    """A word that carries meaning, a number or a time."""

    word: str
    """As written, in small letters."""
    key: str
    """Its stem; equal keys are equal words."""
    role: str = ""
    """The preposition before it."""
    begin: int = 0
    """Its place in the text."""
    is_name: bool = False
    after_verb: bool = False
    is_verb: bool = False
    """It is the first verb, or an adjective in its place."""
    quantity: Quantity | None = None
    moment: Moment | None = None

    @property
    def is_person_word(self) -> bool:
        """Return whether it is a pronoun."""
        return self.key.startswith("@")

    @property
    def is_plain(self) -> bool:
        """Return whether it is a word, and no number, time or pronoun."""
        return self.quantity is None and self.moment is None and not self.is_person_word


def words_in(text: str, language: str) -> tuple[list[Token], bool, str]:  # noqa: C901 - one branch a kind of word
    """Return the tokens of a text in a script with spaces, whether it is negated, and its quantifier."""
    tokens: list[Token] = []
    negations, quantifier, role = 0, "", ""
    has_verb = False
    words = [(match.start(), _trimmed(match[0])) for match in WORD.finditer(text)]
    auxiliaries = AUXILIARIES.get(language, AUXILIARIES["en"])
    has_auxiliary = any(word.lower() in auxiliaries for _, word in words)
    skip = -1
    for n, (begin, written) in enumerate(words):
        word = written.lower().replace("’", "'")
        if n <= skip or not word:
            continue
        is_acronym = written.isupper() and len(written) > 1 and not text.isupper()
        if is_acronym and number_of(word, language) is None:
            tokens.append(Token(word, key_of(word, language), role, begin, is_name=True, after_verb=has_verb))
            role = ""
        elif quantifier_of := cues.QUANTIFIERS.get(word):
            quantifier = quantifier or quantifier_of
            role = ""
            negations += quantifier_of == "none"
        elif word in NEGATIONS.get(language, frozenset()) or word.endswith("n't"):  # type: ignore[call-overload]
            negations += not (language == "fr" and word in {"pas", "jamais", "rien", "personne", "aucun", "aucune"})
        elif (number := number_of(word, language)) is not None:
            unit = words[n + 1][1].lower() if n + 1 < len(words) else ""
            has_unit = not number[1] and unit_of(unit) is not None
            skip = n + 1 if has_unit else skip
            amount = quantities(number[0], number[1] or (unit if has_unit else ""), text[:begin])
            tokens.append(Token(word, f"#{amount}", role, begin, after_verb=has_verb, quantity=amount))
            role = ""
        elif word in cues.PRONOUNS:
            if word != "its":
                tokens.append(Token(word, cues.PRONOUNS[word], role, begin, after_verb=has_verb))
        elif word in cues.PREPOSITIONS[language]:
            role = word if word not in {"of", "from"} or not role else role
        elif _is_stop(word, language):
            has_verb = has_verb or word in auxiliaries
        else:
            base = _SAME_WORD.sub("", word)
            is_name = written[:1].isupper() and (n > 0 or not _is_listed(base, language)) and language != "de"
            is_name = is_name or (language == "de" and written[:1].isupper() and n == 0 and len(words) > 1)
            is_name = is_name or any(character.isdigit() for character in base)
            can_be_verb = (
                word_relations().is_verb(base) and not has_auxiliary if language == "en" else written[:1].islower()
            )
            is_later = bool(tokens) and can_be_verb
            is_verb = not has_verb and is_later
            tokens.append(Token(base, key_of(base, language), role, begin, is_name, has_verb, is_verb))
            has_verb = has_verb or is_verb
            role = ""
    if role:
        tokens.append(Token(role, key_of(role, language), begin=len(text), after_verb=has_verb))
    return tokens, negations > 0, quantifier


def _trimmed(word: str) -> str:
    return word.strip(".:'’-–*_") if not word.endswith("-") else word.strip(".:'’–*_")


def _is_listed(word: str, language: str) -> bool:
    return language == "en" and bool(word_relations().senses(word))


def _is_stop(word: str, language: str) -> bool:
    if word in AUXILIARIES.get(language, AUXILIARIES["en"]):
        return True
    own = STOP if language == "en" else FUNCTION_WORDS.get(language, frozenset())  # type: ignore[call-overload]
    return word in own and word not in _KEPT


@remembered(_REMEMBERED)
def key_of(word: str, language: str) -> str:
    """Return the stem of a word; equal stems are equal words."""
    if language == "en":
        if (place := ordinal_of(word)) is not None:
            return f"#{place}th"
        word = word_relations().base(word)
    if any(character.isdigit() or character in ":@" for character in word):
        return fold(word)
    stemmer = Stemmer.Stemmer(_STEMMERS.get(language, "english"), 0)
    return str(stemmer.stemWord(fold(word)))


def characters_in(text: str, language: str) -> tuple[list[Token], bool, str]:
    """Return the characters of a Chinese text that carry meaning, whether it is negated, and its quantifier."""
    quantifier = ""
    for word, name in cues.QUANTIFIERS.items():
        if HAN.match(word) and word in text and not quantifier:
            quantifier = name
    negations = len(_HAN_NEGATION.findall(text))
    bare = text
    for word in sorted(filter(HAN.match, cues.QUANTIFIERS), key=len, reverse=True):
        bare = bare.replace(word, " " * len(word)) if len(word) > 1 else bare
    bare = _HAN_NEGATION.sub(spaces, bare)
    verb = _HAN_VERB.search(text, 1)

    def after(place: int) -> bool:
        return verb is not None and place > verb.start()

    tokens = list(_han_numbers(bare, language))
    taken = {place for token in tokens for place in range(token.begin, token.begin + len(token.word))}
    for match in _HAN_TOKEN.finditer(bare):
        word = match[0].lower()
        if match.start() in taken or word in _HAN_STOP:
            continue
        number = number_of(word, language) if word[0].isdigit() or word[0] in "$€£" else None
        if number is None:
            key = cues.PRONOUNS.get(word, word) if word.isascii() else {"我": "@i", "你": "@you"}.get(word, word)
            is_code, is_verb = any(map(str.isdigit, word)), verb is not None and match.start() == verb.start()
            tokens.append(Token(word, key, "", match.start(), is_code, after(match.start()), is_verb))
            continue
        tail = re.match(
            r"\s*(公里|千米|厘米|公斤|千克|毫升|分钟|小时|个月|美元|欧元|人民币|[米斤克升秒天周岁元块度吨万亿])",
            bare[match.end() :],
        )
        unit = tail[1] if tail else ""
        amount = quantities(number[0], number[1] or unit, bare[: match.start()])
        written = word + (tail[0] if tail else "")
        taken |= set(range(match.start(), match.start() + len(written)))
        tokens.append(Token(written, f"#{amount}", "", match.start(), after_verb=match.start() > 1, quantity=amount))
    return tokens, negations > 0, quantifier


def _han_numbers(text: str, language: str) -> Iterator[Token]:
    for match in _HAN_NUMBER.finditer(text):
        if (number := number_of(match[0], language)) is not None:
            unit = "岁" if text[match.end()] == "岁" else ""
            amount = quantities(number[0], unit, text[: match.start()])
            yield Token(match[0] + unit, f"#{amount}", "", match.start(), after_verb=match.start() > 1, quantity=amount)


def spaces(match: re.Match[str]) -> str:
    """Return as many spaces as a match has characters."""
    return " " * len(match[0])
