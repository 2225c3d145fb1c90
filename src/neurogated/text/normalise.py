"""Texts → plain words: without greetings, lead-ins, interjections, closings, emphasis and contractions."""

import functools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from neurogated.text.keywords import MARKS, language_of
from neurogated.text.sentences import split_sentences
from neurogated.text.strings import table_of

_HAN = "\u3400-\u9fff"
_WORD = rf"[^\W_{_HAN}]+(?:[{MARKS}]+[^\W_{_HAN}]*)*"
_TOKEN = re.compile(
    rf"[a-z]+?(?=n't\b)|n't\b|(?<!\w)(?:(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'|lieblings)(?=[^\W\d_])"
    rf"|[^\W\d_]+(?=-(?:t-)?(?:je|ils?|elles?)\b)|-(?:t-)?(?:je|ils?|elles?)\b|\d+(?:,\d+)+(?:\.\d+)?"
    rf"|{_WORD}(?:[.@:/_+&-]+{_WORD})*(?:\+\+|\#)?"
    rf"|'(?:m|re|ve|ll|d|s)\b|[{_HAN}]|[^\s\w]",
    re.IGNORECASE,
)
_CUT = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
"""What stands before "n't"."""
_MARKS = frozenset("!！~\uff5e。.…?？")
_ENDS = (
    "".join(_MARKS)
    + " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    + "".join(map(chr, range(0x2000, 0x200B)))
)
"""The marks, and all characters that `str.isspace` knows."""
_BRACKETS = re.compile("[()\uff08\uff09]")
_PICTURES = re.compile("[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+|(?<!\\w)[:;]-?[)(DPp](?!\\w)|\\*+")
_SOME_HAN = re.compile(f"[{_HAN}]")
_JOINT = r"[\s,，、:：;；!！.。…–—¿¡)\uff09-]*"
_MOST_STRIPPED = 4
_LONGEST = 2_000
"""Characters of a sentence that are read; a longer one is no speech."""


class Token(NamedTuple):
    """A word, a Han character or a mark."""

    word: str
    """In lower case, without contraction: `am` for "'m"."""
    raw: str
    """As written."""


class Sentence(NamedTuple):
    """A sentence without courtesies."""

    text: str
    is_question: bool


_token: Callable[[tuple[str, str]], Token] = functools.partial(tuple.__new__, Token)
_sentence: Callable[[tuple[str, bool]], Sentence] = functools.partial(tuple.__new__, Sentence)


@functools.cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a beginning, of an end after a comma, and of an end without one."""

    def any_of(*names: str) -> str:
        phrases = {
            phrase.strip()
            for name in names
            for phrase in table_of(__package__, "courtesies")[name][language].split("|")
        }
        ordered = sorted(phrases, key=len, reverse=True)
        return "|".join(re.escape(phrase).replace("\\ ", r"\s+").replace("'", "['’]?") for phrase in ordered)

    greeting = rf"(?:{any_of('greetings')})(?:\s+[^\W\d_]+){{0,2}}[,，!！]"
    word_end = "" if language == "zh" else r"(?![\w'’])"
    word_begin = "" if language == "zh" else r"(?<!\w)"
    return (
        re.compile(rf"\W*(?:{greeting}|(?:{any_of('greetings', 'openers')}){word_end}){_JOINT}", re.IGNORECASE),
        re.compile(rf"[,，;；:–—-]\s*(?:{any_of('greetings', 'openers', 'closings')})\W*$", re.IGNORECASE),
        re.compile(rf"{word_begin}(?:{any_of('endings')})\W*$", re.IGNORECASE),
    )


@functools.lru_cache(128)
def plain_text(sentence: str) -> str:
    """Return a sentence without greetings, lead-ins, interjections, closings, pictures and marks at its end."""
    opening, closing, ending = _patterns("zh" if _SOME_HAN.search(sentence) else language_of(sentence))
    text = _PICTURES.sub(" ", sentence.replace("’", "'")).strip(" ¿¡")
    if text[:1] in {"(", "\uff08"} and _pairs(text).get(0, len(text)) >= len(_without_end(text)) - 1:
        text = text[1:]
    for _ in range(_MOST_STRIPPED):
        found = opening.match(text)
        if not found or found.end() == len(text):
            break
        text = text[found.end() :]
    text = _without_end(text)
    for _ in range(_MOST_STRIPPED):
        found = closing.search(text) or ending.search(text)
        if not found or not found.start():
            break
        text = _without_end(text[: found.start()])
    return text.strip(" ,，;；:-–—")


def is_courtesy(plain: str) -> bool:
    """Return whether a text that `plain_text` returned says nothing else than a greeting, a lead-in or the like."""
    text = f"{plain}, x"
    opening, _, _ = _patterns("zh" if _SOME_HAN.search(text) else language_of(text))
    return opening.match(text) is not None and plain_text(text) == "x"


def _without_end(text: str) -> str:
    """Return a text without the marks at its end, and without brackets there that close nothing."""
    if not _BRACKETS.search(text):
        return text.rstrip(_ENDS)
    closing, end = set(_pairs(text).values()), len(text)
    while end and (
        text[end - 1].isspace() or text[end - 1] in _MARKS or (text[end - 1] in ")\uff09" and end - 1 not in closing)
    ):
        end -= 1
    return text[:end]


def _pairs(text: str) -> dict[int, int]:
    waiting, pairs = list[int](), dict[int, int]()
    for found in _BRACKETS.finditer(text):
        if found[0] in "(\uff08":
            waiting.append(found.start())
        elif waiting:
            pairs[waiting.pop()] = found.start()
    return pairs


def plain_question(text: str) -> str:
    """Return a text without greetings, lead-ins, interjections, closings and pictures; its question marks stay."""
    kept = list[str]()
    for sentence in split_sentences(text):
        whole = sentence.strip()
        plain = plain_text(whole[:_LONGEST])
        if not plain or len(whole) > _LONGEST or plain == _without_end(whole):
            kept.append(sentence)
            continue
        mark = "?" if "?" in whole or "？" in whole else whole[-1] if whole[-1] in _MARKS else ""
        kept += plain, mark, sentence[len(sentence.rstrip()) :]
    return "".join(kept)


def plain_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text that say something."""
    for sentence in split_sentences(text):
        for line in sentence.split("\n"):
            if plain := plain_text(line[:_LONGEST]):
                yield _sentence((plain, "?" in line or "？" in line))


def tokens_of(text: str) -> list[Token]:
    """Return the words and marks of a sentence; English contractions are words of their own."""
    contractions = _contractions()
    written = _TOKEN.findall(text.replace("’", "'"))
    words = list(map(str.lower, written))
    if "n't" not in words and contractions.keys().isdisjoint(words):
        # Most sentences have none, and making their tuples here takes half as long.
        return list(map(_token, zip(words, written, strict=True)))
    tokens: list[Token] = []
    for word, raw in zip(words, written, strict=True):
        if word == "n't" and tokens:
            tokens[-1] = tokens[-1]._replace(word=_CUT.get(tokens[-1].word, tokens[-1].word))
        if word in contractions:
            tokens += [_token((part, raw)) for part in contractions[word].split()]
        else:
            tokens += (_token((word, raw)),)
    return tokens


@functools.cache
def _contractions() -> dict[str, str]:
    pairs = (pair.split("=") for pair in table_of(__package__, "courtesies")["contractions"]["en"].split("|") if pair)
    return {short.strip(): full.strip() for short, full in pairs}
