"""Detects the language of a text by its function words; lists the words that negate in each language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from neurogated.text.words import words_of

Language = Literal["en", "de", "fr", "es"]
"""A language in Latin letters that has rules here; any other text counts as English."""


FUNCTION_WORDS: Mapping[Language, frozenset[str]] = {
    "en": words_of(
        """the of and to in is was that it for with as on at by he she they you this are were be have has had not
        but from or what who why how when where which did do does my your his her their its we i a an there if
        so about will would can could should than then been me us our them him no"""
    ),
    "de": words_of(
        """der die das und ist nicht ein eine einen einem einer eines zu mit auf für von dem den des sich auch es
        wir ich sie er war waren wird wurde wurden hat haben hatte bei nach aus wie was wer wen wem wessen warum
        wieso weshalb wo wohin woher wann welche welcher welches welchen im am zum zur vom beim ins ihr ihre
        sein seine mein meine dein deine mich mir dich dir uns euch ihn ihm ihnen dass oder aber noch nur schon
        über unter bis um kein keine keinen als wenn dann weil denn doch sehr mehr man kann muss will soll habe
        hast bist sind so da hier dort gestern heute morgen unser unsere du in an ohne gegen durch seit vor
        wurdest hatten könnte würde kommt geht macht gibt viel alle diese dieser dieses"""
    ),
    "fr": words_of(
        """le la les un une des et est dans que qui pour pas au aux du de sur avec ce cet cette ces il elle ils
        elles on nous vous je tu ne se son sa ses mon ma mes ton ta tes notre votre leur leurs était étaient été
        sont à où quand pourquoi comment quel quelle quels quelles quoi combien d l c qu n j s m y en ont a ai
        as avons avez eu fait mais ou donc car si plus moins très bien aussi comme lui par sans sous chez depuis
        avant après pendant hier demain puis ensuite alors fut sera seront avait avaient plusieurs suis es
        sommes êtes"""
    ),
    "es": words_of(
        """el la los las un una unos unas de del y e es en que por para con no se su sus lo al como más pero fue
        era eran está están son ha han he hemos hay yo tú él ella ellos nosotros mi mis tu tus nos me te le les
        qué quién quiénes cuándo dónde cómo cuál cuáles cuánto cuánta cuántos cuántas porque o si muy también ya
        sin sobre entre hasta desde cuando donde ayer hoy mañana luego después antes entonces este esta estos
        estas ese esa eso había habían estaba tenía tiene ser estar fueron nuestra nuestro a"""
    ),
}  # fmt: skip
NEGATIONS: Mapping[Language, frozenset[str]] = {
    "en": words_of(
        """not no never none nobody nothing nowhere neither nor without cannot can't don't doesn't didn't isn't aren't
        wasn't weren't won't wouldn't shouldn't couldn't haven't hasn't hadn't mustn't needn't ain't no-one unable
        lacks lack"""
    ),
    "de": words_of(
        """nicht kein keine keinen keinem keiner keines nie niemals niemand niemanden niemandem nichts nirgends
        nirgendwo weder ohne"""
    ),
    "fr": words_of("ne n pas jamais aucun aucune personne rien nulle ni sans"),
    "es": words_of("no nunca jamás nadie nada ningún ninguno ninguna ni sin tampoco"),
}
"""Words that deny the statement they stand in."""
_OWNERS: dict[str, tuple[Language, ...]] = {
    word: tuple(language for language, own in FUNCTION_WORDS.items() if word in own)
    for word in frozenset[str]().union(*FUNCTION_WORDS.values())
}
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile("[äöüß]"),
    "fr": re.compile("[àâçèêëîïôùûœ]"),
    "es": re.compile("[áíóúñ¿¡]"),
}
"""Letters that hardly occur in the other languages."""
_ENOUGH = 2_000
"""Number of characters that suffice to detect a language."""


def language_of(text: str) -> Language:
    """Return the language with the most matching function words and letters; English in a tie."""
    begin = text[:_ENOUGH].lower()
    counts: dict[Language, int] = {"en": 0, "de": 0, "fr": 0, "es": 0}
    for languages in filter(None, map(_OWNERS.get, _WORD.findall(begin))):
        for language in languages:
            counts[language] += 1
    if not begin.isascii():
        counts |= {
            language: counts[language] + len(letters.findall(begin))
            for language, letters in _LETTERS.items()
            if counts[language]
        }
    # `max` returns the first of equal counts.
    return max(counts, key=counts.__getitem__)
