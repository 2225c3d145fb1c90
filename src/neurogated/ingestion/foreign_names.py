"""Names in German, French and Spanish texts, found by capital letters and function words.

French and Spanish capitalise names as English does. German capitalises every noun. So a capitalised German word is a
name if no article or possessive precedes it, it does not end like a common noun, and it is not a common noun that often
has no article.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from neurogated.text.language import FUNCTION_WORDS, Language
from neurogated.text.sentences import split_sentences
from neurogated.text.times import locate_times
from neurogated.text.words import words_of

__all__ = ["foreign_names"]

_TOKEN = re.compile(
    r"(?:[dlcqnjsmt]|qu)['’](?=[^\W\d_])|[^\W\d_]+(?:[-'’][^\W\d_]+)*\.?(?=\W|$)|\d+|[^\w\s]", re.IGNORECASE
)
_OPENING = frozenset('«»"“„\u201a¿¡([—–:•*#>-')
_LONGEST_NUMBER = 3
_LONGEST_JOINT = 2


def _joints(words: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(joint.split("_")) for joint in words.split())


_JOINTS: Mapping[Language, frozenset[tuple[str, ...]]] = {
    "de": _joints("von von_der von_den zu van am an_der ob_der"),
    "fr": _joints("de du des de_la d' de_l' sur en le la"),
    "es": _joints("de del de_la de_los de_las y"),
}
_TITLES = words_of(
    """herr herrn frau dr prof professor professorin fräulein doktor m mme mlle monsieur madame mademoiselle maître
    señor señora señorita sr sra srta don doña doctor doctora profesor profesora tante onkel oncle tía tío oma
    opa docteur"""
)
# A noun after one of these is a common noun.
_DETERMINERS = words_of(
    """der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen
    meinem meiner meines dein deine deinen deinem deiner sein seine seinen seinem seiner seines ihr ihre ihren
    ihrem ihrer ihres unser unsere unseren unserem unserer euer eure euren diese dieser dieses diesen diesem
    jede jeder jedes jeden jedem welche welcher welches welchen welchem alle allen aller viele vielen wenige
    wenigen einige einigen mehrere mehreren manche manchen beide beiden im am zum zur vom beim ins ans aufs fürs
    übers viel wenig mehr etwas genug jene jener jenes zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
    hundert tausend solche solcher solchen"""
)
_ADJECTIVE = re.compile(r"[a-zäöüß]{2,}(?:e|en|er|es|em)\Z")
_COMMON_GERMAN = re.compile(
    r"(?:\w(?:ung|heit|keit|schaft|nis|tum|ismus|ität|tion|ling|chen|lein|ment|enz|anz|ik|ie|ur)(?:en|se|e|s|n)?|"
    r"\w{2,}(?:stück|zeug|haus|mann|frau|tag|zeit|stadt|platz|buch|werk|jahr|monat)(?:e[nrs]?|s|n)?)\Z"
)
_LONGEST_GERMAN_NAME = 13
_BARE_GERMAN = words_of(
    """jahr jahre jahren tag tage tagen uhr zeit zeiten woche wochen monat monate monaten stunde stunden minute
    minuten sekunde sekunden leute leuten kind kinder kindern freund freunde freunden freundin geld wasser milch
    kaffee tee brot bier wein musik arbeit schule urlaub angst hunger durst spaß glück pech recht lust liebe
    ruhe hilfe platz eltern mutter vater mama papa bruder schwester frau mann menschen männer frauen ende anfang
    mitte euro dollar prozent meter metern kilometer kilometern kilo liter gramm grad regen schnee wetter sonne
    wind sommer winter frühling herbst morgen mittag abend nacht nächte fuß auto bus zug bahn fahrrad telefon
    post mail deutsch englisch französisch spanisch hause haus bett tisch stadt land dorf fluss berg meer see
    wald feld weg straße tür fenster zimmer küche garten hund katze pferd vogel fisch fleisch obst gemüse salz
    zucker öl holz stein eisen gold silber strom licht feuer luft erde blut herz kopf hand hände füße augen teil
    teile art grund gründe folge folgen frage fragen antwort antworten problem probleme idee ideen plan pläne
    ding dinge sache sachen fall fälle mal weise paar stück tasse glas flasche wort worte wörter name namen zahl
    zahlen fehler daten bild bilder brief briefe bücher seite seiten anna's montag dienstag mittwoch donnerstag
    freitag samstag sonntag januar februar märz april mai juni juli august september oktober november dezember
    vormittag nachmittag ostern weihnachten gäste kunden kollegen nachbarn schüler lehrer ärzte arzt polizei
    feuerwehr besuch rücken hitze kälte sturm krieg frieden tod leben gott welt himmel heute gestern bitte danke hallo
    ja nein"""
)
# First words of sentences that are not names: adverbs, and Spanish verbs.
_FIRST_WORDS = words_of(
    """danach dann später zuerst zuletzt endlich leider vielleicht trotzdem deshalb darum außerdem jedoch
    allerdings bald inzwischen früher damals obwohl während nachdem bevor sobald falls jeder jemand niemand
    etwas nichts alles vielen guten ensuite enfin puis bientôt parfois souvent toujours jamais aussitôt
    cependant pourtant toutefois lorsque quoique parce chaque tout toute tous toutes certains quelques autrefois
    aujourd'hui bonjour merci voilà voici oui non selon malgré plusieurs après-midi finalmente además sin
    embargo aunque mientras siempre nunca quizás tal vez cada todo toda todos todas algunos algunas muchos
    muchas hola gracias sí también tampoco según durante hace fuimos tengo tenemos vamos voy quiero creo pienso
    vivo soy somos estoy estamos dice dijo dijeron hubo hay era eran allí aquí así"""
)
# Words that follow a name as the subject of a sentence.
_AFTER_A_NAME: Mapping[Language, frozenset[str]] = {
    "de": words_of(
        """ist war hat hatte wird wurde kommt kam geht ging sagt sagte macht machte fährt fuhr wohnt wohnte lebt lebte
    arbeitet arbeitete heißt kann konnte muss musste will wollte soll sollte mag liebt liebte kauft kaufte fragt
    fragte schreibt schrieb findet fand sieht sah trifft traf bekommt bekam und liegt spielt spielte studiert
    studierte zog gab nahm"""
    ),
    "fr": words_of(
        """est était a avait sera fut va vient habite vit travaille dit aime veut peut doit fait et se ne n' s' s'est
    n'est n'a arrive part habitait vivait travaillait aimait voulait pouvait devait faisait a-t-elle a-t-il nous
    me m'"""
    ),
    "es": words_of(
        """es era fue está estaba ha había tiene tenía va viene vive trabaja dice dijo quiere puede debe hace y se no
    le me nos llegó compró vivía trabajaba quería podía fundó nació murió escribió"""
    ),
}


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    place: int
    starts: bool
    """Whether it is the first word of a sentence or of a quotation."""
    follows: bool
    """Whether no mark is between it and the previous word."""

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def key(self) -> str:
        return self.text.lower().rstrip(".")


def foreign_names(text: str, language: Language) -> list[tuple[int, str]]:
    """Return the names in a text of a language other than English, each with its position."""
    words = _read(text)
    times = list(locate_times(text, language))
    inside = {word.text for word in words if word.is_capital and not word.starts}
    found = []
    for begin, end in _runs(words, language):
        name = _trimmed(words, begin, end, language, times)
        if name and (len(name) > 1 or _is_name(name[0], words, language, inside)):
            last = name[-1]
            found.append((name[0].place, text[name[0].place : last.place + len(last.text.rstrip("."))]))
    return found


def _read(text: str) -> list[_Word]:
    words: list[_Word] = []
    place = 0
    for sentence in split_sentences(text):
        starts, follows = True, False
        for token in _TOKEN.finditer(sentence):
            written = token[0]
            if written[0].isalnum():
                is_short = written.endswith(".") and written.lower().rstrip(".") in _TITLES
                bare = written if is_short else written.rstrip(".")
                words.append(_Word(bare, place + token.start(), starts, follows))
                starts, follows = False, is_short or not written.endswith(".")
            else:
                starts, follows = starts or written in _OPENING, False
        place += len(sentence)
    return words


def _runs(words: Sequence[_Word], language: Language) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each run of capitalised words, with the words that join them."""
    end = 0
    for begin, word in enumerate(words):
        if begin < end or not word.is_capital:
            continue
        end = begin + 1
        while step := _step(words, end, language):
            end += step
        yield begin, end


def _step(words: Sequence[_Word], end: int, language: Language) -> int:
    for size in range(_LONGEST_JOINT + 1):
        after = words[end : end + size + 1]
        if len(after) <= size or not all(word.follows and not word.starts for word in after):
            return 0
        is_number = not size and after[0].text.isdecimal() and len(after[0].text) <= _LONGEST_NUMBER
        joint = tuple(word.text.replace("’", "'") for word in after[:-1])
        if is_number or (after[-1].is_capital and (not size or joint in _JOINTS[language])):
            return size + 1
    return 0


def _trimmed(
    words: Sequence[_Word], begin: int, end: int, language: Language, times: Sequence[tuple[int, int]]
) -> Sequence[_Word]:
    """Return a run without function words, times, titles of persons, and common German nouns."""
    own = FUNCTION_WORDS[language]

    def is_no_name(word: _Word) -> bool:
        is_small = word.key in own or word.key in _TITLES or (word.starts and word.key in _FIRST_WORDS)
        return is_small or any(first <= word.place < last for first, last in times)

    while begin < end and is_no_name(words[begin]):
        begin += 1
    if language == "de" and begin < end and _has_determiner(words, begin):
        begin += 1
    while language == "de" and begin < end and _is_common(words[begin]):
        begin += 1
    while begin < end and (not words[begin].is_capital or words[begin].text.isdecimal() or is_no_name(words[begin])):
        begin += 1
    while language == "de" and begin < end and (_is_common(words[end - 1]) or not words[end - 1].is_capital):
        end -= 1
    return words[begin:end]


def _has_determiner(words: Sequence[_Word], place: int) -> bool:
    """Return whether a determiner precedes a German noun, directly or before adjectives."""
    before = place - 1
    while before >= 0 and words[before + 1].follows and not words[before + 1].starts:
        if words[before].key in _DETERMINERS or words[before].text.isdecimal():
            return True
        if (
            words[before].is_capital
            or not _ADJECTIVE.match(words[before].text)
            or words[before].key in FUNCTION_WORDS["de"]
        ):
            return False
        before -= 1
    return False


def _is_common(word: _Word) -> bool:
    """Return whether a German word is a common noun."""
    key = word.key
    is_long = len(key) > _LONGEST_GERMAN_NAME and "-" not in key
    return is_long or key in _BARE_GERMAN or bool(_COMMON_GERMAN.search(key) and not key.endswith("burg"))


def _is_name(word: _Word, words: Sequence[_Word], language: Language, inside: frozenset[str] | set[str]) -> bool:
    """Return whether a single word is a name."""
    if len(word.text) == 1 or word.text.endswith("ment") or word.text.endswith("mente"):
        return False
    if not word.starts or word.text in inside or any(letter.isupper() for letter in word.text[1:]):
        return True
    following = words.index(word) + 1
    return following < len(words) and words[following].follows and words[following].key in _AFTER_A_NAME[language]
