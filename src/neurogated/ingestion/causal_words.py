"""The word overlap of two texts, by stems of English words and by Chinese characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neurogated.core.text_caches import remembered

__all__ = ["Overlap", "Part", "Vocabulary", "has_han", "has_latin", "has_words"]

# Most Chinese words have two characters.
_WORDS_A_CHARACTER = 0.5
# A common character without a common neighbour may belong to a different word, so it counts half.
_WORDS_A_LONE_CHARACTER = 0.25
_MIN_STEM = 3
# Size of the cache of stems. Frequent words are most of a text.
_REMEMBERED = 10_000

_LATIN = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\d_]+)?")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_SUFFIX = re.compile(r"(?:ations?|ions?|ates?|ated|ating|ments?|ness|ings?|ed|es|ly|s|e)\Z")
_DOUBLED = re.compile(r"([bdgmnprt])\1\Z")

# Words that two texts may share without a common subject.
_STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a about above across after afternoon again against all almost alone along already also although always am among
        an and another any anyone anything april are around as at august autumn away back be became because become been
        before began begin behind being below beside between beyond bit both but by called came can cannot cause come
        could d day days december did do does doing done down dozen dr during each early effect either else end enough
        even evening ever every everyone everything fact february few first five for former four friday from full gave
        get give go goes going gone got had half has have having he her here hers herself him himself his hour hours how
        however hundred i if in inside instead into is it its itself january july june just keep kept kind knew know
        known last later least less let like ll lot m made main make makes making man many march may me men
        midnight might mine minute minutes moment monday month months more morning most mr mrs much must my near nearly
        never next night nine no nobody none noon nor not nothing november now october of off often on once one only
        onto or other others our ours out over own part people perhaps place put quickly quite rather re really reason
        result s said same saturday saw say says second see seem seemed seen september set seven several shall she
        should simply since six so some someone something soon sort spring still such suddenly summer sunday t take
        taken tell ten than that the their theirs them themselves then there these they thing things third this those
        though thought thousand three through thursday thus time to today together told tomorrow tonight too took toward
        towards tuesday two under until up upon us use used usual ve very want was way we wednesday week weeks well went
        were what whatever when where whether which while who whole whom whose why will winter with within without woman
        women would year years yesterday yet you your yours
        """,
    )
)
# Chinese stop words; only the text between them is compared.
_ZH_STOPWORDS = re.compile(
    r"我们|你们|他们|她们|它们|自己|没有|不能|不会|已经|开始|后来|时候|今天|昨天|明天|早上|晚上|一个|这个|那个|什么|因为|所以"
    r"|由于|因此|于是|但是|可是|不过|而且|只是|只好|还是|就是|如果|虽然|起来|出来|下来|出去|过来|大家|所有|许多|很多|非常|十分|这些|那些"
    r"|[的了是在和与及着过这那他她它我你们也都而被把就又还很太再才只之其此则且或者给对从向到让使将个一二三两几多些年月日天不没有上里中后前]"
)


def _by_form(text: str) -> dict[str, str]:
    """Parse `name:form,form` entries to a mapping from form to name."""
    entries: list[tuple[str, str]] = re.findall(r"(\S+):(\S+)", text)
    return {form: name for name, forms in entries for form in forms.split(",")}


# Stems that no suffix rule finds, each with its forms. Some entries join a verb and its noun.
_IRREGULAR = _by_form(
    """absent:absence arrest:arrest arriv:arrival believ:belief bend:bent birth:born blow:blew,blown break:broke,broken
    breed:bred bring:brought build:built burn:burnt buy:bought catch:caught child:children choos:choice,chose,chosen
    clos:closure collid:collision,collided decid:decision,decided,decide deliver:delivery depart:departure
    die:died,dies,dying,dead,death,deaths discover:discovery drink:drank,drunk driv:drove,driven
    explod:explosion,exploded,explode fail:failure fall:fell,fallen feed:fed fight:fought flee:fled
    fly:flight,flew,flown foot:feet forget:forgot,forgotten freez:froze,frozen grow:grew,grown,growth hid:hid,hidden
    injur:injury knife:knives leav:left loss:lost,lose,losing man:men marr:marriage,married,marry mouse:mice
    pay:paid,payment press:pressure prov:proof quarrel:quarrelled,quarrels refus:refusal remov:removal ring:rang
    rise:rose,risen run:ran sell:sold,sale send:sent shak:shook shoot:shot short:shortage sing:sang sink:sank,sunk
    sleep:slept speak:spoke,speech spend:spent spring:sprang stand:stood steal:stole,stolen,theft,thief
    strik:struck,strike succeed:success sweep:swept teach:taught tear:tore,torn tooth:teeth wear:wore,worn
    writ:wrote,written"""
)
# Words for the same circumstance.
_CONCEPTS = _by_form(
    """#cold:cold,frost,freez,minus,subzero,ice,icy,snow,chill,snowstorm,blizzard
    #wet:rain,downpour,wet,storm,rainfall,thunderstorm,cloudburst,drizzl #flood:flood,overflow,inundat,deluge,burst
    #dry:dry,drought,dri,parch,rainless #fire:fire,burn,blaz,flame,spark,ignit
    #ill:ill,sick,fever,illness,diseas,infect,plague,flu,sicken,outbreak,epidemic #die:die,kill,drown,perish
    #shut:shut,clos #money:money,fund,budget,cash,cost,saving,savings,debt,bankrupt,cut
    #crash:crash,collid,collaps,fail,outag,broke #hot:heat,hot,heatwave,overheat,warm
    #war:war,invad,invasion,battl,attack #dark:dark,blackout,darkness,unlit #strike:strik,walkout,stoppag
    #noise:noise,loud,noisy,din,bark,nois #wind:wind,gale,gust,hurrican #leave:leav,depart,resign,quit,departur,mov
    #hunger:hunger,hungry,famine,starv,famin #late:late,delay #quarrel:quarrel,argu,argument,disput,row
    #ban:ban,forbid,forbad,prohibit"""
)
# Chinese characters that each name a circumstance.
_ZH_CONCEPTS = frozenset("雨雪冰霜火病旱洪涝震风雾毒饿渴热冷税债")


@dataclass(frozen=True, slots=True)
class Overlap:
    """The overlap of a part of one text with another text."""

    words: float
    """Number of common words; a pair of Chinese characters is one word."""
    share: float
    """0–1: share of common words in all words of the part."""


class Part:
    """The words of a part of a text, parsed once and compared with any number of texts."""

    def __init__(self, text: str) -> None:
        words = _LATIN.findall(text)
        # A common name means the same person or place, not the same event.
        self.stems = [
            (stem, word.lower() if word.istitle() else "") for word in words if (stem := _content_stem(word.lower()))
        ]
        """Each stem with the lower-case form of a word that is written like a name, "" for other words."""
        self.runs = _runs(text)
        """Runs of Chinese characters."""


class Vocabulary:
    """The words of a text."""

    def __init__(self, text: str) -> None:
        words = _LATIN.findall(text)
        stems = {stem for word in {word.lower() for word in words} if (stem := _content_stem(word))}
        self._stems = stems | {_STEMMED_CONCEPTS[stem] for stem in stems & _STEMMED_CONCEPTS.keys()}
        self._common = {word for word in words if word.islower()}
        runs = _runs(text)
        self._pairs = {pair for run in runs for pair in _pairs(run)}
        self._characters = {character for run in runs for character in run}

    def overlap(self, part: Part) -> Overlap:
        """Return the number and the share of the words of `part` that this text has too."""
        stems = {stem for stem, name in part.stems if not name or name in self._common}
        shared = sum(1.0 for stem in stems if stem in self._stems or _STEMMED_CONCEPTS.get(stem) in self._stems)
        total = float(len(stems))
        for run in part.runs:
            known = self._known(run)
            shared += known
            total += max(known, len(run) * _WORDS_A_CHARACTER)
        return Overlap(shared, min(1.0, shared / total) if total else 0.0)

    def _known(self, run: str) -> float:
        """Return the number of words of a run of Chinese characters that this text has too."""
        paired = {i + step for i, pair in enumerate(_pairs(run)) if pair in self._pairs for step in (0, 1)}
        alone = [run[i] for i in range(len(run)) if i not in paired and run[i] in self._characters]
        circumstances = sum(1.0 for character in alone if character in _ZH_CONCEPTS)
        others = (len(alone) - circumstances) * _WORDS_A_LONE_CHARACTER
        return len(paired) * _WORDS_A_CHARACTER + circumstances + others


def has_han(text: str) -> bool:
    """Return whether `text` has a Chinese character."""
    return bool(_HAN.search(text))


def has_latin(text: str) -> bool:
    """Return whether `text` has a word in another script than Chinese or Japanese."""
    return bool(_LATIN.search(text))


def has_words(text: str) -> bool:
    """Return whether `text` has a word that is not a stop word."""
    return any(_content_stem(word.lower()) for word in _LATIN.findall(text)) or bool(_runs(text))


@remembered(_REMEMBERED)
def _content_stem(word: str) -> str:
    """Return the stem of a lower-case word, "" for a stop word."""
    word = word.removesuffix("'s")
    return _stem(word) if len(word) > 1 and word not in _STOPWORDS else ""


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith(("ies", "ied")):
        return word[:-_MIN_STEM] + "y"
    if word.endswith("ss"):
        return word
    suffix = _SUFFIX.search(word, _MIN_STEM)
    return _DOUBLED.sub(r"\1", word[: suffix.start()]) if suffix else word


def _runs(text: str) -> Sequence[str]:
    """Return the runs of Chinese characters in `text` between stop words and other characters."""
    return _HAN.findall(_ZH_STOPWORDS.sub(" ", text)) if _HAN.search(text) else ()


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


_STEMMED_CONCEPTS = {_stem(word): concept for word, concept in _CONCEPTS.items()}
