"""Puts the words of a user, and those of an assistant who repeats them, into one person: "you keep", "I keep"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from neurogated.text.keywords import fold
from neurogated.text.language import FUNCTION_WORDS, Language

__all__ = ["in_first_person", "in_one_person", "without_frame"]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HAN = re.compile("[\u3400-\u9fff]")
_HAN_PERSON = re.compile("(?:你|您|我)们?(?:的(?=[\u3400-\u9fff]))?")
_QUOTES = ' \n\t"“”„«»「」『』'
_FRAME = re.compile(
    r"""
    ^\W*(?:
      (?:as\ |like\ )?(?:you|i)(?:['’]ve|\ have|\ had)?(?:\ also|\ once|\ just|\ already)?
      \ (?:said|say|mentioned|told\ me|noted|recall|remember|wrote|shared)
      (?:\ (?:earlier|before|last\ time|previously|to\ me|that))*
    | (?:from\ what|as\ far\ as|if)\ (?:i|you)\ (?:remember|recall|know|said|told\ me)(?:\ correctly)?
    | according\ to\ (?:you|(?:my|your)\ (?:notes|memory|memories)) | my\ (?:notes|memory)\ says?(?:\ that)?
    | (?:wie\ )?(?:du|sie|ihr)?\ ?(?:hast|haben|habt)(?:\ du|\ sie|\ ihr)?(?:\ mir)?(?:\ ja|\ schon)?
      \ (?:gesagt|erzählt|erwähnt|geschrieben)(?:,\ dass)?
    | (?:soweit|wenn)\ ich\ (?:weiß|mich\ erinnere) | laut\ (?:dir|ihnen)
    | (?:como\ |según\ )?(?:me\ |ya\ )*(?:dijiste|contaste|mencionaste|comentaste|has\ dicho|dijo|ha\ dicho)(?:\ que)?
    | según\ (?:tú|usted) | recuerdo\ que | si\ no\ recuerdo\ mal
    | (?:comme\ )?(?:tu\ (?:m['’])?(?:as|avais)|vous\ (?:m['’])?(?:avez|aviez))
      \ (?:dit|raconté|mentionné|écrit)(?:\ que|\ qu['’])?
    | selon\ (?:toi|vous)
    | (?:正如|就像)?[你您]们?(?:之前|曾经|以前|刚才)?(?:说过?|提到过?|告诉过?我)的?
    )(?: \s*[,:，：]\s* | \s+ | (?=[\u3400-\u9fff]) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words by which an assistant says that the user said something."""


def _words(text: str) -> dict[str, str]:
    pairs = (line.split(":") for line in text.split(","))
    return {word: first.strip() for words, first in pairs for word in words.split()}


_FIRST: Mapping[Language, Mapping[str, str]] = {
    "en": _words(
        "you we:I,your our:my,yours ours:mine,yourself ourselves:myself,us:me,you're we're:I'm,you've we've:I've,"
        "you'll we'll:I'll,you'd we'd:I'd"
    ),
    "de": _words(
        "du wir Sie:ich,dich dir euch uns Ihnen mir:mich,bist seid sind:bin,hast habt haben:habe,"
        "dein euer unser Ihr:mein,deine eure unsere Ihre:meine,deinen euren unseren Ihren:meinen,"
        "deinem eurem unserem Ihrem:meinem,deiner eurer unserer Ihrer:meiner,deines eures unseres Ihres:meines"
    ),
    "es": _words(
        "tú usted nosotros nosotras vosotros:yo,te nos os:me,ti:mí,contigo:conmigo,eres somos sois:soy,has hemos:he,"
        "estás estamos:estoy,tienes tenemos tiene:tengo,vas vamos:voy,tu vuestro vuestra nuestro nuestra su:mi,"
        "tus vuestros vuestras nuestros nuestras sus:mis"
    ),
    "fr": _words(
        "tu vous nous:je,te t:me,toi:moi,ton votre notre:mon,ta:ma,tes vos nos:mes,es êtes sommes:suis,as avez avons:ai"
    ),
}
"""The first person singular of the words for the user, by language. Politeness capitals matter in German."""
_OWN: Mapping[Language, frozenset[str]] = {
    language: FUNCTION_WORDS[language].union(words, words.values()) for language, words in _FIRST.items()
}
_ENDINGS: Mapping[Language, tuple[tuple[str, str], ...]] = {
    "de": (("e", "st"), ("e", "est"), ("e", "t"), ("e", "en")),
    "es": (("o", "as"), ("o", "es"), ("é", "aste"), ("í", "iste"), ("é", "ó"), ("í", "ió"), ("o", "a"), ("o", "e")),
}
"""Endings of verbs in the first person, each with one in which the user is addressed."""


_FIRST_WORDS = frozenset(word.lower() for words in _FIRST.values() for word in words.values())


def in_first_person(text: str) -> bool:
    """Return whether a text without quotation marks around it speaks of its speaker."""
    if text.strip()[:1] in set(_QUOTES.strip()):
        return False
    return "我" in text or any(word.lower() in _FIRST_WORDS for word in _WORD.findall(text))


def in_one_person(said: str, memory: str) -> tuple[str, str]:
    """Return the words of an assistant, and those of a memory, both in the first person singular.

    Quotation marks are left out, and so are words such as "You mentioned that", unless the memory begins with them too.
    """
    said, memory = said.strip(_QUOTES), memory.strip(_QUOTES)
    said = without_frame(said) if without_frame(memory) == memory else said
    if _HAN.search(memory):
        return _HAN_PERSON.sub("我", said), _HAN_PERSON.sub("我", memory)
    language = _language_of(f"{memory} {said}")
    ours, theirs = (_in_first_person(text, language) for text in (said, memory))
    return _in_first_form(ours, theirs, language), theirs


def without_frame(said: str) -> str:
    """Return the words of an assistant without words such as "You mentioned that" and without quotation marks."""
    return _FRAME.sub("", said.strip(_QUOTES), count=1).strip(_QUOTES)


def _language_of(text: str) -> Language:
    """Return the language with the most function words and words for the user; English in a tie."""
    words = [word.replace("’", "'") for word in _WORD.findall(text.lower())]
    return max(_FIRST, key=lambda language: sum(word in _OWN[language] for word in words))


def _in_first_person(text: str, language: Language) -> str:
    if language == "en":
        text = re.sub(r"\b(?:you|we) (?:are)\b|\b(?:you|we)['’]re\b", "I am", text, flags=re.IGNORECASE)
        text = re.sub(r"\b(you|we) were\b", "I was", text, flags=re.IGNORECASE)
    known = _FIRST[language]

    def first(match: re.Match[str]) -> str:
        word = match[0].replace("’", "'")
        found = known.get(word) or known.get(word.lower())
        if found is None:
            return match[0]
        return found[0].upper() + found[1:] if word[0].isupper() and not match.start() else found

    text = _WORD.sub(first, text)
    if language == "fr":
        text = re.sub(r"\b(j)e (?=[aeéèêiouhy])", r"\1'", text, flags=re.IGNORECASE)
    return text[:1].upper() + text[1:]


def _in_first_form(said: str, memory: str, language: Language) -> str:
    """Return `said` with the verbs that address the user as the memory has them: "vives" becomes "vivo"."""
    endings = _ENDINGS.get(language, ())
    stems: dict[tuple[str, int], str] = {}
    for word in _WORD.findall(memory) if endings else ():
        for place, (own, _) in enumerate(endings):
            stem = word.removesuffix(own)
            if 1 < len(stem) < len(word):
                stems[fold(stem), place] = word

    def own_form(match: re.Match[str]) -> str:
        word = match[0]
        for place, (_, ending) in enumerate(endings):
            found = stems.get((fold(word[: -len(ending)]), place)) if word.endswith(ending) else None
            if found is not None:
                return found.capitalize() if word[0].isupper() else found.lower()
        return word

    return _WORD.sub(own_form, said) if stems else said
