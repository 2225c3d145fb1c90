"""Recognises the feeling that a question names, such as "upset", "stolz" or "难过"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from neurogated.text.keywords import fold
from neurogated.text.language import NEGATIONS, Language, language_of

# Unhappy and happy words of each language, folded. Words of taste ("enjoy") and of expectation ("excited") are missing:
# the memories that answer such a question need not be happy.
_WORDS: Mapping[Language, tuple[str, str]] = {
    "en": (
        (
            r"upset\w*|sad|sadd?\w*ness|saddened|unhapp\w+|angr\w+|anger\w*|annoy\w+|irritat\w+|frustrat\w+|furious"
            r"|afraid|scared|fear(?:s|ed|ful)?|frighten\w*|terrified|anxi(?:ous|ety)|worr(?:y|ied|ies|ying)|nervous"
            r"|stress(?:ed|ful)?|depress(?:ed|ing)|lonely|loneliness|ashamed|embarrass\w+|guilty|disappoint\w+|miserable"
            r"|heartbroken|grie(?:f|v\w+)|jealous|regret\w*|hate[ds]?|dislike[ds]?|disgust\w+|dread(?:ed|s)?|overwhelmed"
        ),
        (
            r"happ(?:y|ier|iest|iness)|glad|joyful|delight\w*|pleased|proud\w*|thrilled"
            r"|grateful|gratitude|thankful|relie(?:f|ved)|cheerful|satisfied"
        ),
    ),
    "de": (
        (
            r"traurig\w*|ungluckl\w+|wut|wutend\w*|zorn\w*|sauer|(?:ver|ge)?arger\w*|enttausch\w*|angst\w*|furchte\w*"
            r"|gefurchtet|besorgt\w*|sorgen?|nervos|gestresst|frustriert\w*|einsam\w*|scham\w*|geschamt|peinlich\w*"
            r"|genervt|nervt\w*|bereu\w+|hasse|gehasst|verzweifelt"
        ),
        (
            r"gluckl\w+|froh\w*|gefreut|freu(?:e|t|te|en|st)?|freude\w*|stolz\w*|dankbar\w*|erleichtert"
            r"|zufrieden\w*"
        ),
    ),
    "fr": (
        (
            r"triste\w*|malheureu\w+|fache\w*|colere|furieu\w+|enerve\w*|agace\w*|decue?s?|decoi\w+|peurs?|craign\w+"
            r"|inqui[ei]\w*|anxieu\w+|angoiss\w+|stress\w*|frustr\w+|honte\w*|regrett\w*|deteste\w*|contrari(?:ee?|ait)"
        ),
        (
            r"heureu(?:x|se|ses)|contente?s?|joie\w*|joyeu\w+|ravie?s?|fiere?s?|reconnaissante?s?"
            r"|soulage\w*|satisfaite?s?|rejoui\w*"
        ),
    ),
    "es": (
        (
            r"triste\w*|infeli\w+|enfad\w+|enoj\w+|furios\w+|rabia|molest\w+|miedo\w*|asust\w+|preocup\w+|nervios\w+"
            r"|ansi\w+|angusti\w+|estres\w*|frustr\w+|decepcion\w+|verguenza|avergonz\w+|arrepent\w+|odi(?:o|a|e|aba)"
        ),
        (
            r"feliz|felices|felicidad|alegr\w+|content[oa]s?|orgullo\w*|agradecid\w+|alivi\w+"
            r"|satisfech\w+"
        ),
    ),
}
_HAN = (
    (
        "不开心|不開心|不高兴|不高興|难过|難過|伤心|傷心|悲伤|悲傷|生气|生氣|愤怒|憤怒|恼火|惱火|害怕|恐惧|恐懼|担心|擔心"
        "|焦虑|焦慮|紧张|緊張|失望|沮丧|沮喪|孤独|孤獨|羞愧|尴尬|尷尬|后悔|後悔|讨厌|討厭|烦恼|煩惱"
    ),
    "开心|開心|高兴|高興|快乐|快樂|幸福|骄傲|驕傲|自豪|感激|感恩|欣慰|满意|滿意",
)
_PATTERNS = {
    language: re.compile(rf"\b(?:(?P<low>{low})|(?P<high>{high}))\b|(?P<han_low>{_HAN[0]})|(?P<han_high>{_HAN[1]})")
    for language, (low, high) in _WORDS.items()
}
_LAST_WORD = re.compile(r"([\w']+)\W*\Z")


def feeling_of(question: str) -> int:
    """Return -1 if a question names an unhappy feeling, 1 for a happy one, and 0 if it names none or both."""
    language, text = language_of(question), fold(question)
    found = {_polarity(text, match, language) for match in _PATTERNS[language].finditer(text)}
    return sum(found)


def _polarity(text: str, match: re.Match[str], language: Language) -> int:
    polarity = 1 if match["high"] or match["han_high"] else -1
    before = _LAST_WORD.search(text[: match.start()])
    return -polarity if before and before[1] in NEGATIONS[language] else polarity
