"""Whether one text causes another, told from the words alone.

Four signs count, the strongest wins: the second text opens with a cue that points back ("As a result", "因此"), or
opens by giving the reason for the first; the first ends with a cue that points ahead; or a sentence of one text names a
cause or an effect ("owing to the rain", "停电导致") in words that the other text shares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from neurogated.core.judgements import CausalJudgement
from neurogated.ingestion.causal_cues import (
    AHEAD,
    DENIED,
    EXPLAINED,
    HYPOTHETICAL,
    LEADS,
    LINKS,
    NEGATED_CAUSE,
    NEGATED_EFFECT,
    OPENERS,
    WAYS,
    Link,
)
from neurogated.ingestion.sentences import split_sentences

__all__ = ["OfflineCausalJudge"]

# Characters beside a cue that can belong to its clause; bounds the work on text without punctuation.
_REACH = 240
# A Chinese word has two characters as a rule.
_WORDS_A_CHARACTER = 0.5
# One that the other text holds in other company may be of the same word or not.
_WORDS_A_LONE_CHARACTER = 0.25
# Share of the words of a named cause that the other text must hold: of a phrase, of a clause, and of many words.
_PHRASE_SHARE = 0.5
_CLAUSE_SHARE = 0.6
_LONG_SHARE = 0.4
_LONG = 3
_SEVERAL = 2
# What a link between a text and its own later explanation, or within the earlier text, loses.
_INDIRECT = 0.15
# What full overlap adds to the weight of a cue.
_OVERLAP_GAIN = 0.2
_MIN_STEM = 3
# Sentences among which the opening is sought, where the first is only an interjection.
_OPENING = 2
# Characters of a clause that a reason repeats.
_QUOTED = 60

_LATIN = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:'[^\W\d_]+)?")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_CLAUSE_END = re.compile(
    r"[,;:()—。，；：、！？!?\uff08\uff09]|\s[-–]\s|\b(?:but|and (?=(?:he|she|it|they|we|i|the|was|had)\b))"
)
_SUBJECT_START = re.compile(
    r"[,;:()—。，；：！？!?\uff08\uff09]|\s[-–]\s|\b(?:that|which|who|when|and|but)\b", re.IGNORECASE
)
_QUESTION = re.compile(r"""[?？]["'”’」』)\s]*\Z|(?:吗|呢)[。"”’」』\s]*\Z""")
_ASKS_WHY = re.compile(r"\b(?:why|how\s+come|what\s+(?:caused|made|happened))\b|为什么|为何|为啥|怎么", re.IGNORECASE)
_ANSWERS = re.compile(r"(?P<cue>because|owing to|due to|on account of|thanks to|since|因为|由于|都怪)", re.IGNORECASE)
_UNDONE = re.compile(
    r"\b(?:not(?! (?:only|just|merely|simply|least))|never|hardly|scarcely|could|might|may|would have)\b|n't\b"
    r"|不(?!得不|得已|仅|只|但)|没有|并未|未能",
    re.IGNORECASE,
)
_INNER_CAUSE = re.compile(
    r"\b(?:because|after|when|since|if|which|owing|due|and (?:was|is|were|had|he|she|it|they))\b", re.IGNORECASE
)
_GOES = re.compile(r"\b(?:led|leads?) (?:to|into)\Z", re.IGNORECASE)
_PRONOUN = re.compile(r"\W*(?:he|she|they|it|we|i|this|that)\b", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:ations?|ions?|ates?|ated|ating|ments?|ness|ings?|ed|es|ly|s|e)\Z")
_DOUBLED = re.compile(r"([bdgmnprt])\1\Z")

# Words that two texts may share without telling of the same thing.
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
# What tells nothing in Chinese; what stands between is compared.
_ZH_STOPWORDS = re.compile(
    r"我们|你们|他们|她们|它们|自己|没有|不能|不会|已经|开始|后来|时候|今天|昨天|明天|早上|晚上|一个|这个|那个|什么|因为|所以"
    r"|由于|因此|于是|但是|可是|不过|而且|只是|只好|还是|就是|如果|虽然|起来|出来|下来|出去|过来|大家|所有|许多|很多|非常|十分|这些|那些"
    r"|[的了是在和与及着过这那他她它我你们也都而被把就又还很太再才只之其此则且或者给对从向到让使将个一二三两几多些年月日天不没有上里中后前]"
)


def _by_form(text: str) -> dict[str, str]:
    """Read lines of `name:form,form` as each form's name."""
    entries: list[tuple[str, str]] = re.findall(r"(\S+):(\S+)", text)
    return {form: name for name, forms in entries for form in forms.split(",")}


# Stems that no rule finds, each with its forms; they join forms of a word and what they name.
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
# Words that name the same circumstance.
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
# Chinese characters each of which is a circumstance on its own.
_ZH_CONCEPTS = frozenset("雨雪冰霜火病旱洪涝震风雾毒饿渴热冷税债")


class OfflineCausalJudge:
    """Finds causal links by connectives of English and Chinese and by shared words; needs no model.

    It does not know how far apart two texts stand. A cue that points back means the text right before, so a caller that
    compares distant texts may ask for it among neighbours only. Links that nothing marks are not found.
    """

    def judge(self, first: str, second: str) -> CausalJudgement:
        """Return whether the words of two texts say that one causes the other.

        Args:
            first: the earlier text of a document.
            second: the later one.
        """
        before, after = _Passage(first), _Passage(second)
        if not before.sentences or not after.sentences:
            return CausalJudgement(is_causal=False, weight=0.0, reason="one of the texts is empty")
        found = max(_evidence(before, after), key=lambda sign: sign.weight, default=None)
        if found is None:
            return CausalJudgement(is_causal=False, weight=0.0, reason="no causal cue links the two texts")
        return CausalJudgement(is_causal=True, weight=min(1.0, found.weight), reason=found.reason)


@dataclass(frozen=True, slots=True)
class _Sign:
    weight: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Overlap:
    words: float
    share: float


class _Passage:
    """A text as sentences with plain spaces, and the words it holds."""

    def __init__(self, text: str) -> None:
        plain = (" ".join(sentence.split()).replace("’", "'") for sentence in split_sentences(text))
        self.sentences = [sentence for sentence in plain if _LATIN.search(sentence) or _HAN.search(sentence)]
        self._stems = {stem for sentence in self.sentences for stem in _stems(sentence)}
        self._common = {word for sentence in self.sentences for word in _LATIN.findall(sentence) if word.islower()}
        self._stems |= {_STEMMED_CONCEPTS[stem] for stem in self._stems & _STEMMED_CONCEPTS.keys()}
        runs = [run for sentence in self.sentences for run in _runs(sentence)]
        self._pairs = {pair for run in runs for pair in _pairs(run)}
        self._characters = {character for run in runs for character in run}

    def overlap(self, part: str) -> _Overlap:
        """Return how many of the words of `part` this text holds, and which share of them."""
        # A name in common tells of the same person or place, not of the same event.
        words = (word for word in _LATIN.findall(part) if not word.istitle() or word.lower() in self._common)
        stems = set(_stems(" ".join(words)))
        shared = sum(1.0 for stem in stems if stem in self._stems or _STEMMED_CONCEPTS.get(stem) in self._stems)
        total = float(len(stems))
        for run in _runs(part):
            known = self._known(run)
            shared += known
            total += max(known, len(run) * _WORDS_A_CHARACTER)
        return _Overlap(shared, min(1.0, shared / total) if total else 0.0)

    def _known(self, run: str) -> float:
        """Return how many words of a run of Chinese characters this text holds."""
        paired = {i + step for i, pair in enumerate(_pairs(run)) if pair in self._pairs for step in (0, 1)}
        alone = [run[i] for i in range(len(run)) if i not in paired and run[i] in self._characters]
        circumstances = sum(1.0 for character in alone if character in _ZH_CONCEPTS)
        others = (len(alone) - circumstances) * _WORDS_A_LONE_CHARACTER
        return len(paired) * _WORDS_A_CHARACTER + circumstances + others


def _evidence(before: _Passage, after: _Passage) -> Iterator[_Sign]:
    yield from _back(before, after)
    yield from _ahead(before)
    for sentence in after.sentences:
        yield from _linked(sentence, before, is_later=True)
    for sentence in before.sentences:
        yield from _linked(sentence, after, is_later=False)


def _start(sentence: str) -> int:
    """Return where the first word of a sentence that counts begins."""
    lead = LEADS.match(sentence)
    return lead.end() if lead else 0


def _back(before: _Passage, after: _Passage) -> Iterator[_Sign]:
    """Yield what the first sentence of the later text says of the text before."""
    starts = [(sentence, _start(sentence)) for sentence in after.sentences[:_OPENING]]
    sentence, start = next((pair for pair in starts if pair[1] < len(pair[0])), starts[0])
    if _QUESTION.search(sentence) or DENIED.search(sentence):
        return
    gain = _OVERLAP_GAIN * before.overlap(sentence).share
    for openers, says in ((OPENERS, "points back with"), (EXPLAINED, "gives the reason with")):
        for opener in openers:
            cue = opener.pattern.match(sentence, start)
            if not cue or _UNDONE.search(cue[0]) or _INNER_CAUSE.search(sentence, start, cue.start("cue")):
                continue
            if not _is_way(cue["cue"], before.sentences[-1]):
                yield _Sign(opener.strength + gain, f'the later text {says} "{cue["cue"].strip()}"')
    answer = _ANSWERS.match(sentence, start)
    last = before.sentences[-1]
    if answer and _ASKS_WHY.search(last) and ("?" in last or "？" in last):
        yield _Sign(1.0 - _INDIRECT, f'the later text answers a why with "{answer["cue"]}"')


def _ahead(before: _Passage) -> Iterator[_Sign]:
    last = before.sentences[-1]
    if _QUESTION.search(last) or DENIED.search(last):
        return
    for opener in AHEAD:
        cue = opener.pattern.search(last)
        if cue and not NEGATED_EFFECT.search(last[max(0, cue.start() - _REACH) : cue.start()]):
            yield _Sign(opener.strength, f'the earlier text points ahead with "{cue["cue"]}"')


def _linked(sentence: str, other: _Passage, *, is_later: bool) -> Iterator[_Sign]:
    """Yield what a sentence says of a cause or an effect that the other text tells."""
    if _QUESTION.search(sentence) or DENIED.search(sentence) or HYPOTHETICAL.match(sentence, _start(sentence)):
        return
    for link in LINKS:
        for cue in link.pattern.finditer(sentence):
            left = sentence[max(0, cue.start() - _REACH) : cue.start()]
            if (NEGATED_CAUSE if link.cause_follows else NEGATED_EFFECT).search(left) or _UNDONE.search(cue[0]):
                continue
            cause, effect = _parts(sentence, cue, link)
            if _is_way(cue[0], cause):
                continue
            strength = link.strength - (0.0 if is_later else _INDIRECT)
            name = (cue["cue"] or cue[0]).strip(" ,;")
            told = other.overlap(cause)
            if _suffices(told, is_clause=link.is_clause) if is_later else _says_the_same(told):
                weight = strength + _OVERLAP_GAIN * told.share
                yield _Sign(weight, f'"{name}" names a cause that the other text tells: {cause[:_QUOTED]}')
            told = other.overlap(effect)
            if _says_the_same(told) or (is_later and _is_taken_up(effect, told, link)):
                weight = strength - _INDIRECT + _OVERLAP_GAIN * told.share
                yield _Sign(weight, f'"{name}" names an effect that the other text tells: {effect[:_QUOTED]}')


def _is_way(cue: str, cause: str) -> bool:
    """Return whether "led to" tells where a road or a door leads."""
    return bool(_GOES.search(cue) and WAYS.search(cause))


def _suffices(told: _Overlap, *, is_clause: bool) -> bool:
    needed = _CLAUSE_SHARE if is_clause else _PHRASE_SHARE
    return (told.words >= 1 and told.share >= needed) or _is_long(told)


def _says_the_same(told: _Overlap) -> bool:
    return (told.words >= _SEVERAL and told.share >= _CLAUSE_SHARE) or _is_long(told)


def _is_long(told: _Overlap) -> bool:
    return told.words >= _LONG and told.share >= _LONG_SHARE


def _is_taken_up(effect: str, told: _Overlap, link: Link) -> bool:
    """Return whether an effect is all there in the other text: "the fire was caused by", "he resigned because"."""
    return link.cause_follows and told.share >= 1 and (not link.is_clause or bool(_PRONOUN.match(effect)))


def _parts(sentence: str, cue: re.Match[str], link: Link) -> tuple[str, str]:
    """Return the cause and the effect that a cue joins."""
    left = sentence[max(0, cue.start() - _REACH) : cue.start()]
    right = sentence[cue.end() : cue.end() + _REACH]
    named = next((text for name, text in cue.groupdict().items() if name in {"cause", "by"} and text), None)
    if not link.cause_follows:
        return named or _last_clause(left, whole=link.is_clause), _next_clauses(right)[0]
    cause, rest = _next_clauses(right)
    if named:
        return named, rest if not _has_words(left) else _last_clause(left, whole=True)
    return cause, _last_clause(left, whole=True) if _has_words(left) else _next_clauses(rest)[0]


def _next_clauses(text: str) -> tuple[str, str]:
    """Return the first clause that says something, and what follows it."""
    begin = 0
    for end in _CLAUSE_END.finditer(text):
        if _has_words(text[begin : end.start()]):
            return text[begin : end.start()].strip(), text[end.end() :]
        begin = end.end()
    return text[begin:].strip(), ""


def _last_clause(text: str, *, whole: bool) -> str:
    pieces = (_CLAUSE_END if whole else _SUBJECT_START).split(text)
    return next((piece.strip() for piece in reversed(pieces) if _has_words(piece)), "")


def _has_words(text: str) -> bool:
    return bool(_stems(text)) or bool(_runs(text))


def _stems(text: str) -> list[str]:
    """Return the stems of the Latin words of `text` that tell something."""
    words = (word.lower().removesuffix("'s") for word in _LATIN.findall(text))
    return [_stem(word) for word in words if len(word) > 1 and word not in _STOPWORDS]


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith(("ies", "ied")):
        return word[:-_MIN_STEM] + "y"
    if word.endswith("ss"):
        return word
    suffix = _SUFFIX.search(word, _MIN_STEM)
    return _DOUBLED.sub(r"\1", word[: suffix.start()]) if suffix else word


def _runs(text: str) -> list[str]:
    """Return the Chinese characters of `text` that tell something, cut where others stood between them."""
    return _HAN.findall(_ZH_STOPWORDS.sub(" ", text))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


_STEMMED_CONCEPTS = {_stem(word): concept for word, concept in _CONCEPTS.items()}
