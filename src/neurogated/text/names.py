"""Names in a text, found by capital letters and quotation marks alone.

A name is a run of capitalised words; words such as "of", "van", initials and "&" join them. A run loses words that only
begin a sentence, titles of persons ("Dr. Quill" is "Quill"), the possessive "'s", and days and months. A single first
word of a sentence counts if it is capitalised elsewhere in the text, or is no common word. German capitalises every
noun, so a German noun counts only if no article precedes it, and it does not end like a common noun. Chinese has no
capitals, so only terms in 《》, 「」, 『』 or “” and words in Latin letters are names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from neurogated.text.keywords import ENGLISH_STOP_WORDS, FUNCTION_WORDS, Language, language_of, words_of
from neurogated.text.sentences import split_sentences
from neurogated.text.strings import table_of
from neurogated.text.times import MONTHS, locate_times

# Maximum and minimum length of a Chinese name in quotation marks, in characters.
_LONGEST_TERM = 12
_SHORTEST_TERM = 2
# Maximum digits of a number in a name: "Apollo 11".
_LONGEST_NUMBER = 3
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_QUOTED_TERM = re.compile(r"《([^《》\n]+)》|「([^「」\n]+)」|『([^『』\n]+)』|“([^“”\n]+)”")
_CLAUSE_MARK = re.compile(r"[，。！？；：,.!?;:…]")
_LETTERS = r"[^\W\u3040-\u30ff\u3400-\u9fff_]+"
_TOKEN = re.compile(
    rf"""
    (?P<small> (?: [a-z]+ \s+ ){{3,}} (?= [a-z]+ \s ) )                 # words too far from a name to belong to it
  | (?P<plain> [a-z]+ (?= [\s,!?;:)] | \Z ) )
  | (?P<word>
        (?: [^\W\d_] \. ){{2,}} [^\W\d_]? (?![^\W_])                     # U.S.A.
      | [A-Z] \. (?= [ ]? [A-Z] )                                        # an initial
      | \b (?: [dlcqnjsmt] | qu ) ['’] (?= [^\W\d_]{{2}} )               # d'Orsay
      | {_LETTERS} (?: ['’\-] {_LETTERS} )* (?: ['’] (?= \s ) )?         # a word with hyphens and apostrophes
    )
  | (?P<mark> \S )
    """,
    re.VERBOSE,
)
_WORD, _SMALL_WORDS, _PLAIN = (_TOKEN.groupindex[name] for name in ("word", "small", "plain"))
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])\Z")
_ROMAN = re.compile(r"[IVXL]+\Z")
_LETTER_WORD = re.compile(r"[A-Z]-[a-z]")
_OPENING_MARKS = frozenset("\"“\u2018'«„\u201a¿¡([—–:*_#>•-")
_NO_NAMES = words_of("I I'm I've I'd I'll I’m I’ve I’d I’ll OK AM PM AD BC CE BCE A No Nos TV PS NB")
_TABLE = table_of(__package__, "names")
# Titles of persons: dropped before a name, and not a name alone.
_TITLES = words_of(_TABLE["titles"])
_ABBREVIATED = words_of("St Mt Ft Dr Mr Mrs Ms Prof Capt Sgt Lt Col Gen Rev Jr Sr M Mme Mlle Sra")
_ARTICLES = frozenset({"the", "a", "an"})


# Words that join two capitalised words of a name.
_JOINTS: Mapping[Language, frozenset[tuple[str, ...]]] = {
    language: frozenset(tuple(joint.split("_")) for joint in words.split())
    for language, words in _TABLE["joints"].items()
}
_LONGEST_JOINT = 2
# After "the" only these belong to a name: "Catherine the Great".
_EPITHETS = words_of("Great Terrible Wise Bald Bold Elder Younger Conqueror Pious Fat Good Brave Mad Red Old")
# After these words, "of" is part of the name; after other words, only if an article precedes them.
_HEADS = words_of(_TABLE["heads"])
_BEFORE_PLACES = words_of("in at from to near of on by")
# Common German words without an article, and the endings of others.
_GERMAN_NOUNS = words_of(_TABLE["german_nouns"])
_GERMAN_ENDING = re.compile(
    r"(?:\w(?:ung|heit|keit|schaft|nis|tum|ismus|ität|tion|ling|chen|lein|ment|enz|anz|ik|ie|ur)(?:en|se|e|s|n)?|"
    r"\w{2,}(?:stück|zeug|haus|mann|frau|tag|zeit|stadt|platz|buch|werk|jahr|monat)(?:e[nrs]?|s|n)?)\Z"
)
_LONGEST_GERMAN_NAME = 13
# A German noun after one of these is a common noun.
_DETERMINER = re.compile(
    r"(?:d(?:e[rmns]|ie|as)|(?:k?ein|[msd]ein|ihr|unser|eu(?:e)?r|dies|jen|jed|welch|solch|manch)(?:e[mnrs]?)?|all(?:e[nr]?)?|"
    r"(?:vie|weni|eini|mehrer|beid)\w*|am|im|zum|zur|vom|beim|ins|ans|aufs|mehr|etwas|genug|"
    r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|\d+)\Z"
)
_GERMAN_ADJECTIVE = re.compile(r"[a-zäöüß]{2,}(?:e|en|er|es|em)\Z")
# Endings of common words, which are no names at the beginning of a sentence: "Coopers", "Pumping"; but "Thomas" is one.
_COMMON_ENDING = re.compile(r"(?:ing|ed|ly|ers|tion|ness|ment|mente|men|ity|\w{3}[^aiosu]s)\Z|\A(?:un|under|over)\w{4}")
# Words at the beginning of a sentence that do not belong to the following name, besides function words.
_OPENERS = ENGLISH_STOP_WORDS | words_of(_TABLE["openers"])
# Common words that often begin a sentence without an article; their like with common endings are not listed.
COMMON_WORDS = _OPENERS | words_of(_TABLE["common"])
# Words that follow a name as the subject of a sentence.
_AFTER_A_NAME = words_of(_TABLE["after_a_name"])


@dataclass(slots=True)
class _Word:
    text: str
    place: int
    """Its position in the text."""
    starts: bool
    """Whether it is the first word of a sentence or of a quotation."""
    follows: bool
    """Whether only white space is between it and the previous word."""
    bare: str
    """The word without a possessive."""
    key: str
    """The bare word in the form of the word lists."""
    is_small: bool = False
    """Whether it has small letters only."""
    is_capital: bool = False
    """Whether it is written like a name: "Ada", "NASA", "iPhone", "A350"."""
    is_time: bool = False
    """Whether it belongs to a date or another time expression."""

    @property
    def is_possessive(self) -> bool:
        """Whether the word is a possessive."""
        return self.bare != self.text


def _word(text: str, place: int, *, starts: bool, follows: bool) -> _Word:
    bare = _POSSESSIVE.sub("", text) if "'" in text or "’" in text else text
    is_small = text.islower()
    key = bare if is_small else bare.lower()
    if not key.isalpha():
        key = key.rstrip(".'’").replace("’", "'")
    word = _Word(text, place, starts, follows, bare, key, is_small)
    if not is_small:
        word.is_capital = any(map(str.isupper, bare)) and text not in _NO_NAMES and not _LETTER_WORD.match(text)
    return word


def names_in(text: str) -> tuple[str, ...]:
    """Return the names as written, each once, in order of appearance."""
    language = language_of(text)
    words, small = _read(text, language)
    inside = {word.bare for word in words if word.is_capital and not word.starts}
    found = list[tuple[int, str]]()
    for match in _QUOTED_TERM.finditer(text):
        # Chinese quotation marks may denote a name.
        term = next(group for group in match.groups() if group).strip()
        is_short = _SHORTEST_TERM <= len(term) <= _LONGEST_TERM and not _CLAUSE_MARK.search(term)
        if match[1] or (is_short and _HAN.search(term)):
            found.append((match.start(), term))
    for run in _runs(words, language):
        begin, end = _trimmed(words, *run, language)
        if begin < end and (end - begin > 1 or _is_name(words, begin, language, inside, small)):
            first, last = words[begin], words[end - 1]
            found.append((first.place, " ".join(text[first.place : last.place + len(last.bare)].split())))
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def _read(text: str, language: Language) -> tuple[list[_Word], set[str]]:
    words: list[_Word] = []
    small: set[str] = set()
    place = 0
    for sentence in split_sentences(text):
        starts, follows, first = True, False, len(words)
        for token in _TOKEN.finditer(sentence):
            written = token[0]
            if token.lastindex == _PLAIN:
                words += (_Word(written, place + token.start(), starts, follows, written, written, True),)
                starts, follows = False, True
            elif token.lastindex == _WORD or written == "&":
                words += (_word(written, place + token.start(), starts=starts, follows=follows),)
                starts, follows = False, True
            elif token.lastindex == _SMALL_WORDS:
                small.update(written.split())
                starts, follows = False, False
            elif written == "." and len(words) > first and words[-1].text in _ABBREVIATED:
                words[-1].text = words[-1].bare = f"{words[-1].text}."
            else:
                starts = starts or written in _OPENING_MARKS
                follows = False
        place += len(sentence)
    small.update([word.bare for word in words if word.is_small])
    times = sorted(locate_times(text, language))
    for word in words:
        while times and times[0][1] <= word.place:
            times.pop(0)
        word.is_time = bool(times) and times[0][0] <= word.place
    return words, small


def _runs(words: Sequence[_Word], language: Language) -> Iterator[tuple[int, int]]:
    end = 0
    for begin, word in enumerate(words):
        if begin < end or not word.is_capital:
            continue
        end = begin + 1
        while step := _step(words, begin, end, _JOINTS[language]):
            end += step
        yield begin, end


def _step(words: Sequence[_Word], begin: int, end: int, joints: AbstractSet[tuple[str, ...]]) -> int:
    """Return the number of words after `words[begin:end]` that belong to the same name."""
    last = words[end - 1]
    has_article = words[begin].key in _ARTICLES or (begin > 0 and words[begin - 1].key in _ARTICLES)
    if last.is_possessive and not (has_article or words[end - 2].text == "St."):
        return 0
    for size in range(_LONGEST_JOINT + 1):
        if end + size >= len(words) or words[end + size].starts or not words[end + size].follows:
            return 0
        following = words[end + size]
        if not size and following.text.isdecimal() and len(following.text) <= _LONGEST_NUMBER and not last.is_time:
            return int(begin > 0 and words[begin - 1].key not in _BEFORE_PLACES)
        if not following.is_capital:
            continue
        joint = tuple(word.text for word in words[end : end + size])
        if not size or joint in joints:
            fits_of = joint[:1] != ("of",) or last.key in _HEADS or has_article
            fits_the = joint != ("the",) or following.text in _EPITHETS
            return size + 1 if fits_of and fits_the else 0
    return 0


def _trimmed(words: Sequence[_Word], begin: int, end: int, language: Language) -> tuple[int, int]:
    """Return a run without words that only begin a sentence, times, titles of persons, and common German nouns."""
    german = language == "de"
    while begin < end and (german or words[begin].starts):
        key = words[begin].key
        if not (key in FUNCTION_WORDS[language] or key in _OPENERS or key.endswith("ly")):
            break
        begin += 1
    if german and begin < end and _has_determiner(words, begin):
        begin += 1
    while german and begin < end and (_is_german_noun(words[begin]) or not words[begin].is_capital):
        begin += 1
    while german and begin < end and (_is_german_noun(words[end - 1]) or not words[end - 1].is_capital):
        end -= 1
    if not [word for word in words[begin:end] if not (word.is_time or word.text.isdecimal())]:
        return begin, begin
    while begin + 1 < end and (words[begin].is_time or words[begin].key in _TITLES) and words[begin + 1].is_capital:
        if words[begin].is_possessive:
            break
        begin += 1
    return begin, end


def _has_determiner(words: Sequence[_Word], place: int) -> bool:
    """Return whether a determiner precedes a German noun, directly or before adjectives."""
    before = place - 1
    while before >= 0 and words[before + 1].follows and not words[before + 1].starts:
        if _DETERMINER.match(words[before].key):
            return True
        is_adjective = _GERMAN_ADJECTIVE.match(words[before].text) and words[before].key not in FUNCTION_WORDS["de"]
        if not is_adjective:
            return False
        before -= 1
    return False


def _is_german_noun(word: _Word) -> bool:
    key = word.key
    is_long = len(key) > _LONGEST_GERMAN_NAME and "-" not in key
    # The ending of a plural or a case has up to two letters.
    is_listed = not _GERMAN_NOUNS.isdisjoint((key, key[:-1], key[:-2]))
    return is_long or is_listed or bool(_GERMAN_ENDING.search(key))


def _is_name(
    words: Sequence[_Word], place: int, language: Language, inside: AbstractSet[str], small: AbstractSet[str]
) -> bool:
    word = words[place]
    letters = word.bare.rstrip(".")
    is_common = word.key in _OPENERS or word.key in FUNCTION_WORDS[language] or word.key in MONTHS[language]
    if is_common or word.key in _TITLES or len(letters) == 1 or _ROMAN.match(letters):
        return False
    if not word.starts or word.bare in inside or any(map(str.isupper, letters[1:])):
        return True
    if language != "en":
        following = words[place + 1 : place + 2]
        return bool(following) and following[0].follows and following[0].key in _AFTER_A_NAME
    if word.key.split("-")[0] in COMMON_WORDS:
        return False
    is_owner = word.is_possessive and word.text.endswith("s")
    return is_owner or not (word.key in small or _COMMON_ENDING.search(word.key))
