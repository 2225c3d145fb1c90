"""Names in a text, found by capital letters and quotation marks alone.

English names are runs of capitalised words. Words such as "of", "the", "van", initials and "&" join them. The first
word of a sentence counts if it is capitalised elsewhere in the text, belongs to a run, or is not a common word. These
are dropped: titles of persons ("Dr. Quill" is "Quill"), an article that only begins a sentence, the possessive "'s",
and single days and months. Chinese has no capitals, so only terms in 《》, 「」, 『』 or “” and words in Latin letters
are names. `foreign_names` has the rules for German, French and Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Self

from neurogated.ingestion.foreign_names import foreign_names
from neurogated.text.language import language_of
from neurogated.text.sentences import split_sentences
from neurogated.text.words import words_of

__all__ = ["OfflineEntityFinder"]

# Maximum and minimum length of a Chinese name in quotation marks, in characters.
_LONGEST_TERM = 12
_SHORTEST_TERM = 2
# Maximum digits of a number in a name: "Apollo 11".
_LONGEST_NUMBER = 3
# Endings of inflected common words, which are not names: "Coopers", "Pumping"; but "Thomas" is a name.
_COMMON_ENDING = re.compile(r"(?:ing|ed|ly|ers|tion|ness|ment|men|ity|\w{3}[^aiosu]s)\Z|\A(?:un|under|over)\w{4}")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_QUOTED_TERM = re.compile(r"《(?P<work>[^《》\n]+)》|「(?P<a>[^「」\n]+)」|『(?P<b>[^『』\n]+)』|“(?P<c>[^“”\n]+)”")
_CLAUSE_MARK = re.compile(r"[，。！？；：,.!?;:…]")
_TOKEN = re.compile(
    r"""
    (?P<small> (?: [a-z]+ \s+ ){3,} (?= [a-z]+ \s ) )                   # words too far from a name to belong to it
  | (?P<word>
        (?: [^\W\d_] \. ){2,} [^\W\d_]? (?![^\W_])                       # U.S.A.
      | [A-Z] \. (?= [ ]? [A-Z] )                                        # an initial
      | [^\W\u3040-\u30ff\u3400-\u9fff_]+
        (?: ['’\-] [^\W\u3040-\u30ff\u3400-\u9fff_]+ )*                  # a word with hyphens and apostrophes
        (?: ['’] (?= \s ) )?
    )
    | (?P<mark> \S )
    """,
    re.VERBOSE,
)
_WORD, _SMALL_WORDS = (_TOKEN.groupindex[name] for name in ("word", "small"))
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])\Z")
_ROMAN = re.compile(r"[IVXL]+\Z")
_LETTER_WORD = re.compile(r"[A-Z]-[a-z]")
_OPENING_MARKS = frozenset("\"“\u2018'«([—:–*_#>•")


_ABBREVIATED = words_of("St Mt Ft Dr Mr Mrs Ms Prof Capt Sgt Lt Col Gen Rev Jr Sr")
# Titles of persons: dropped before a name, and not a name alone.
_TITLES = words_of(
    """mr mrs ms miss dr prof professor sir dame madam captain capt sergeant sgt lieutenant lt colonel col general gen
    major admiral commander corporal inspector detective constable rev reverend father sister brother mother uncle
    aunt president minister senator governor mayor judge justice doctor nurse engineer master chancellor ambassador
    bishop archbishop pope rabbi king queen prince princess duke duchess count countess baron baroness earl lord lady
    emperor empress chief director chairman chairwoman secretary coach assistant grandpa grandma grandfather
    grandmother pastor abbot"""
)
# Words that join two capitalised words of a name.
_JOINTS = [
    tuple(joint.split())
    for joint in re.split(
        ", ",
        "of, of the, upon, &, de, de la, de los, de las, la, le, du, des, del, della, di, da, dos, van, van der, "
        "van den, van de, von, von der, der, ter, bin, ibn, al, el, y, sur",
    )
]
_JOINTS_BY_FIRST = {joint[0]: [other for other in _JOINTS if other[0] == joint[0]] for joint in _JOINTS}
_EPITHETS = words_of(
    """Great Terrible Wise Bald Bold Elder Younger Conqueror Pious Fat Short Good Brave Mad Red Tall Lame Old"""
)
_ARTICLES = frozenset({"the", "a", "an"})
_BEFORE_PLACES = words_of("in at from to near of on by")
# Nouns whose possessive is part of a name.
_OWNERS = words_of(
    """king queen bishop widow widows fisherman fishermen lady lord devil traveller travellers children women men st"""
)
# After these words, "of" is part of the name; after other words, only if an article precedes them.
_HEADS = words_of(
    """bank university college board house night battle bay isle gulf cape church duke ministry department institute
    school society museum court council treaty kingdom city port point lord lady order book sea strait tower temple
    republic bridge feast day way hall master guild company union act field knights bishop earl king queen prince
    princess house archbishop academy association bureau centre center chamber committee confederation county district
    empire faculty federation fields gardens garden heart hill hospital island islands isles journal lake league
    library mount mouth office people peoples plain province river rock siege state states song story temple theatre
    tomb tree valley voice war wars well wood world bill declaration charter castle abbey cathedral ballad tale prince
    son daughter daughters sons"""
)
# Words that turn a preceding title into an organisation: "General Motors".
_ORGANISED = words_of(
    """Motors Electric Assembly Hospital Post Office Court Council School Island Islands Club Association"""
)
_TIMES = words_of(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december jan feb mar apr jun jul aug sep sept oct nov dec mondays tuesdays wednesdays
    thursdays fridays saturdays sundays"""
)
_NAMES_LIKE_FORMS = words_of(
    "james charles agnes athens brussels naples wales alfred mohammed ahmed manfred frances hughes"
)
_NO_NAMES = words_of("""I I'm I've I'd I'll I’m I’ve I’d I’ll OK AM PM AD BC CE BCE A P.M. A.M. No Nos TV Ms PS NB Q""")
# Words at the beginning of a sentence that do not belong to the following name.
_FUNCTION = words_of(
    """a an the and or but nor so yet for of in on at by to from with without within into onto over under above below
    after before since until till during while when whenever where wherever why how who whom whose which what whatever
    whoever that this these those there here then thus hence therefore however moreover meanwhile otherwise instead
    indeed also too even only just still already again once twice never ever always often sometimes usually seldom
    rarely perhaps maybe possibly probably certainly clearly apparently surely naturally fortunately luckily sadly
    suddenly finally eventually soon later lately today tomorrow yesterday tonight now nowadays i you he she it we
    they me him her us them my your his its our their mine yours hers ours theirs one two three four five six seven
    eight nine ten eleven twelve twenty thirty forty fifty hundred hundreds thousand thousands million millions half
    both each every either neither all any some none no not nobody nothing nowhere somebody someone something anybody
    anyone anything everybody everyone everything many much more most several few fewer less least enough other others
    another such same as if unless though although because whereas whether than like unlike despite except beside
    besides between beyond about across along among amid around against behind beneath off out up down through
    throughout toward towards upon via per plus yes oh ah please thanks hello hi hey dear is are was were be been
    being am do does did done has have had can could may might must shall should will would let lets let's don't
    didn't isn't it's that's there's what's he's she's we're they're you're i'm can't won't make take get go come see
    look say said ask tell give keep put run use try add open close click set select choose read write call wait stop
    start turn check send return remember think know congratulations"""
)
# Common words that often begin a sentence without an article.
_COMMON = _FUNCTION | words_of(
    """seventy eighty ninety fourth fifth sixth seventh eighth ninth tenth cast wrote flame hollow landed lost found
    born built made seen heard left sold sent wax wool silk leather cotton smeared old supply demand power energy heat
    pressure noise sound sleep hunger thirst fear anger pain luck chance fate fortune progress success failure hope
    faith truth advice help speed traffic mail post evidence research software hardware production staff management
    security access output input dust mud blood flesh skin hair rust mould hay straw corn wheat barley rice fruit
    grass moss ivy moonlight sunlight sunshine thunder lightning flood drought famine plague fever good bad great new
    young big small large little high low first second third last next former latter early late modern ancient whole
    full empty heavy light dark cold hot warm dry wet hard soft strong weak rich poor true false wrong red blue green
    white black grey gray brown yellow golden silver press note rain snow fog ice frost wind hail smoke fire water
    earth air sand salt sugar coal oil gas iron steel stone wood timber glass paper gold copper tin lead bread milk
    meat fish tea coffee beer wine money cash news work trade food music art science history law peace war love death
    life time night day dawn dusk noon midnight morning evening winter summer spring autumn people folk children women
    men girls boys sheep cattle horses birds dogs cats trains ships boats soldiers sailors critics doctors nurses
    police prices wages shares sales profits stocks markets villagers families friends parents students pupils
    visitors tourists guests readers users customers clients servers houses shops schools trees flowers roses leaves
    bees ants wolves rats mice nets lamps bells hands eyes tears silence darkness nature god heaven language memory
    mother father grandmother grandfather grandma grandpa mum dad uncle aunt sister brother doctor captain king queen
    prince princess bishop mayor sir madam nearby afterwards elsewhere inside outside upstairs downstairs overnight
    underneath altogether together apart away back forward ahead home right north south east west according owing due
    given provided rather quite almost nearly roughly local public private foreign national royal common general
    special certain different similar various countless numerous legend tradition rumour rumor experts scientists
    researchers engineers workers officials historians archaeologists astronomers keepers pilots dinner lunch
    breakfast supper tickets letters books records results data code tests logs errors bugs questions sixty trust
    server soup long far near well"""
)


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
    is_capital: bool
    """Whether it is written like a name: "Ada", "NASA", "iPhone", "A350"."""

    key: str
    """The bare word in the form of the word lists."""

    @classmethod
    def of(cls, text: str, place: int, *, starts: bool, follows: bool) -> Self:
        """Parse a word."""
        bare = _POSSESSIVE.sub("", text) if "'" in text or "’" in text else text
        # Most words are lower-case, and this check is fast.
        if text.islower():
            return cls(text, place, starts, follows, bare, False, bare.rstrip("."))
        return cls(text, place, starts, follows, bare, _is_capital(text, bare), bare.rstrip(".").lower())

    @property
    def is_possessive(self) -> bool:
        """Whether the word is a possessive."""
        return self.bare != self.text


class OfflineEntityFinder:
    """Finds names by their spelling, without a model."""

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names as written, each once, in order of appearance."""
        language = language_of(text)
        if language != "en":
            names = [*_quoted_terms(text), *foreign_names(text, language)]
            return tuple(dict.fromkeys(name for _, name in sorted(names)))
        words, small = _read(text)
        inside = {word.bare for word in words if word.is_capital and not word.starts}
        found = list(_quoted_terms(text))
        for begin, end in _runs(words):
            name = _trimmed(words, begin, end)
            if name and (len(name) > 1 or _is_name(name[0], inside, small)):
                found.append((name[0].place, " ".join([*(word.text for word in name[:-1]), name[-1].bare])))
        return tuple(dict.fromkeys(name for _, name in sorted(found)))


def _quoted_terms(text: str) -> Iterator[tuple[int, str]]:
    """Yield the terms that Chinese quotation marks denote as names, each with its position."""
    for match in _QUOTED_TERM.finditer(text):
        term = next(group for group in match.groups() if group).strip()
        is_short = _SHORTEST_TERM <= len(term) <= _LONGEST_TERM and not _CLAUSE_MARK.search(term)
        if match["work"] or (is_short and _HAN.search(term)):
            yield match.start(), term


def _is_capital(text: str, bare: str) -> bool:
    has_capital = bare[:1].isupper() or any(map(str.isupper, bare))
    return has_capital and text not in _NO_NAMES and not _LETTER_WORD.match(text)


def _read(text: str) -> tuple[list[_Word], set[str]]:
    """Return the words in and beside possible names, and all lower-case words."""
    words: list[_Word] = []
    small: set[str] = set()
    place = 0
    for sentence in split_sentences(text):
        starts, follows, first = True, False, len(words)
        for token in _TOKEN.finditer(sentence):
            written = token[0]
            if token.lastindex == _WORD or written == "&":
                words.append(_Word.of(written, place + token.start(), starts=starts, follows=follows))
                starts, follows = False, True
            elif token.lastindex == _SMALL_WORDS:
                small.update(written.split())
                starts, follows = False, False
            elif written == "." and len(words) > first and words[-1].text in _ABBREVIATED:
                last = words[-1]
                words[-1] = _Word.of(f"{last.text}.", last.place, starts=last.starts, follows=last.follows)
            else:
                starts = starts or written in _OPENING_MARKS
                follows = False
        place += len(sentence)
    small.update(word.bare for word in words if not word.is_capital and word.text.islower())
    return words, small


def _runs(words: Sequence[_Word]) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each run of words that form a name."""
    end = 0
    for begin, word in enumerate(words):
        if begin < end or not word.is_capital:
            continue
        end = begin + 1
        while step := _step(words, begin, end):
            end += step
        yield begin, end


def _step(words: Sequence[_Word], begin: int, end: int) -> int:
    """Return the number of words after `words[begin:end]` that belong to the same name."""
    if end == len(words) or not words[end].follows or words[end].starts:
        return 0
    last, following = words[end - 1], words[end]
    if last.is_possessive and not (_has_article(words, begin) or last.key in _OWNERS or words[end - 2].text == "St."):
        return 0
    if following.is_capital:
        return 1
    is_number = following.text.isdecimal() and len(following.text) <= _LONGEST_NUMBER
    if is_number and last.key not in _TIMES:
        return int(begin > 0 and words[begin - 1].key not in _BEFORE_PLACES)
    if following.text == "the" and _is_joined(words, end, 1) and words[end + 1].text in _EPITHETS:
        return 2
    return _joint(words, begin, end)


def _joint(words: Sequence[_Word], begin: int, end: int) -> int:
    """Return the number of words that join `words[begin:end]` to the next capitalised word, including that word."""
    for joint in _JOINTS_BY_FIRST.get(words[end].text, ()):
        if tuple(word.text for word in words[end : end + len(joint)]) == joint and _is_joined(words, end, len(joint)):
            takes = joint[0] != "of" or words[end - 1].key in _HEADS or _has_article(words, begin)
            return len(joint) + 1 if takes else 0
    return 0


def _has_article(words: Sequence[_Word], begin: int) -> bool:
    """Return whether a run begins with an article, or an article precedes it."""
    return words[begin].key in _ARTICLES or (begin > 0 and words[begin - 1].key in _ARTICLES)


def _is_joined(words: Sequence[_Word], place: int, count: int) -> bool:
    """Return whether a capitalised word follows the `count` words from `place` on, without a mark between them."""
    after = words[place + 1 : place + count + 1]
    return len(after) == count and all(word.follows and not word.starts for word in after) and after[-1].is_capital


def _trimmed(words: Sequence[_Word], begin: int, end: int) -> Sequence[_Word]:
    """Return a run without words that only begin a sentence, days and months, and titles of persons."""
    if words[begin].starts:
        while begin < end and (words[begin].key in _FUNCTION or words[begin].key.endswith("ly")):
            begin += 1
    if all(word.key in _TIMES or word.text.isdecimal() for word in words[begin:end]):
        return ()
    before = words[begin - 1].key if begin > 0 else ""
    if words[begin].key in _TIMES and (words[begin].starts or before not in _ARTICLES):
        begin += 1
    while begin + 1 < end and words[begin].key in _TITLES and words[begin + 1].is_capital:
        if words[begin].is_possessive or words[begin + 1].text in _ORGANISED:
            break
        begin += 1
    return words[begin:end]


def _is_name(word: _Word, inside: AbstractSet[str], small: AbstractSet[str]) -> bool:
    """Return whether a single word is a name."""
    letters = word.bare.rstrip(".")
    if len(letters) == 1 or word.key in _TITLES or word.key in _FUNCTION or _ROMAN.match(letters):
        return False
    if not word.starts or word.bare in inside or any(character.isupper() for character in letters[1:]):
        return True
    # "Forty-one" is as common as "forty".
    is_common = word.key in _COMMON or word.key.split("-")[0] in _COMMON
    has_form = word.key not in _NAMES_LIKE_FORMS and _COMMON_ENDING.search(word.key)
    is_owner = word.is_possessive and word.text.endswith("s")
    return not is_common and (is_owner or not (word.key in small or has_form))
