"""Puts the words of a user, and those of an assistant who repeats them, into one person: "you keep", "I keep"."""

from __future__ import annotations

import re

from neurogated.text.words import words_of

_QUOTES = ' \n\t"“”„«»「」『』'
_SAID = """said|say|mentioned|told me|noted|wrote|shared|remember|recall|gesagt|erzählt|erwähnt|geschrieben
|dijiste|contaste|mencionaste|dit|raconté|mentionné|écrit""".replace("\n", "")
_FRAME = re.compile(
    r"^\W*(?:as |like |wie |como |comme )?(?:you|i|du|sie|ihr|tú|tu|vous|me|ya)\b(?:[ '’]+[^\W\d_]+){0,3}?"
    rf"[ '’]+(?:{_SAID})\b"
    r"(?: (?:earlier|before|previously|once|to me|that|dass|que))*[ ,:]*"
    r"|^\W*(?:正如)?[你您](?:之前|以前|曾经)?(?:说过?|提到过?|告诉过?我)[的，：, ]*",
    re.IGNORECASE,
)
"""Words by which an assistant says that the user said something."""
_WORD = re.compile(r"[^\W\d_]+(?:['’](?=m\b|re\b|ve\b|ll\b|d\b))?", re.IGNORECASE)


def _classes(text: str) -> dict[str, str]:
    lines = (line.split() for line in text.strip().splitlines())
    return {word: first for first, *others in lines for word in (first, *others)}


_PERSONS = _classes("""
i you we me us j m t je tu te vous nous yo tú ti nosotros nos
ich du wir dich mich uns dir mir euch
my your our mine yours ours mon ton notre votre mi ma ta
mein dein unser
meine deine unsere
meinen deinen unseren
meinem deinem unserem
meiner deiner unserer
mes tes nos vos mis tus
myself yourself ourselves
am are suis es sommes êtes soy eres somos
bin bist sind
was were
have ai as avons avez tengo tienes tenemos he has hemos
habe hast haben
""")
"""The words about oneself and those about the person to whom one speaks; both sides have the first of a line."""
_SPEAKER = words_of("i my me mine we our ich mein meine meinen wir unser je j mon ma mes yo mi mis")


def is_about_speaker(text: str) -> bool:
    """Return whether a text without quotation marks around it speaks of its speaker."""
    words = (found[0].lower() for found in _WORD.finditer(text))
    return text.strip()[:1] not in _QUOTES and ("我" in text or not _SPEAKER.isdisjoint(words))


def in_one_person(text: str) -> str:
    """Return a text whose words about its speaker and about the person addressed are the same words."""
    text = re.sub("[你您我](?:们)?", "我", text.strip(_QUOTES))
    text = re.sub(r"(?<=[a-z])['’](m|re|ve)\b", lambda found: _CUT[found[1].lower()], text, flags=re.IGNORECASE)
    return _WORD.sub(lambda found: _PERSONS.get(found[0].lower(), found[0]), text)


_CUT = {"m": " am", "re": " are", "ve": " have"}


def without_frame(said: str) -> str:
    """Return the words of an assistant without words such as "You mentioned that" and without quotation marks."""
    return _FRAME.sub("", said.strip(_QUOTES), count=1).strip(_QUOTES)
