"""Which days a question or a text names, such as "last Friday", "im März", "am 17. November" or "两周前".

The table `_WORDS` turns a question into tokens. The kind of a token is a letter, and the rules are patterns of letters.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from functools import cache, lru_cache, partial
from typing import NamedTuple

from neurogated.text.keywords import language_of, split_keywords
from neurogated.text.sentences import split_sentences
from neurogated.text.strings import table_of
from neurogated.text.times import (
    HAN_DATES,
    LATIN_DATES,
    MAY_BE_DATE,
    MONTHS,
    NUMBERS,
    UNITS,
    WEEKDAYS,
    CalendarDate,
    any_of,
    read_number,
)

_MOST_DAYS = 14
_MOST_DATES = 8
"""Dates of a text that are read."""
_LONGEST = 500
"""Characters of a sentence in which its tense is looked for."""
_WEEK, _YEAR, _SATURDAY = 7, 12, 5
_DAYS_OF_A_YEAR, _SHORTER_THAN_A_MONTH = 366, 27


class Span(NamedTuple):
    """Consecutive days of a user."""

    first: date
    last: date

    def holds(self, moment: datetime | None, zone: tzinfo | None) -> bool:
        """Return whether a time is in the span in a zone, None for that of the machine; False for no time."""
        return moment is not None and self.first <= moment.astimezone(zone).date() <= self.last

    def meets(self, other: Span) -> bool:
        """Return whether two spans have a day in common."""
        return self.first <= other.last and other.first <= self.last

    def widened(self, more: timedelta = timedelta(0)) -> Span:
        """Return the span with the day before and the day after, which are those of other zones, and with more days."""
        days = more + timedelta(1)
        return Span(max(self.first, date.min + days) - days, min(self.last, date.max - days) + days)

    @property
    def weekdays(self) -> str:
        """The names of the weekdays of a span of at most a week, as text for keyword search."""
        days = (self.last - self.first).days + 1
        found = ((self.first.weekday() + n) % _WEEK for n in range(days if days <= _WEEK else 0))
        return " ".join(WEEKDAYS[language][place] for place in found for language in WEEKDAYS).replace("|", " ")

    @property
    def dates(self) -> str:
        """The dates, or the months of a longer span, as text for keyword search."""
        days = (self.last - self.first).days + 1
        if days <= _MOST_DAYS:
            return " ".join(f"{day.day} {day:%B %Y}" for day in (self.first + timedelta(n) for n in range(days)))
        numbers = range(0, min(days, _DAYS_OF_A_YEAR), _SHORTER_THAN_A_MONTH)
        return " ".join(dict.fromkeys(f"{self.first + timedelta(number):%B %Y}" for number in numbers))


# A capital letter is a kind of words; its small letter the words of that kind that need no preposition.
_DAY, _WEEKDAY, _WEEKEND, _MONTH, _UNIT, _DATED = "D", "W", "E", "M", "U", "Y"
_WHICH, _WHICH_AFTER, _WHICH_WEEK, _PAST, _NUMBER, _AGO, _BACK = "S", "A", "B", "P", "N", "G", "V"
_ON, _THE, _SINCE, _EVERY, _OTHER, _DATE, _AHEAD = "O", "L", "I", "C", ".", "T", "F"
_CALENDAR = frozenset({_DATE, *"MmYy"})
"""Kinds of words that name a day, month or year for ever."""
_NEAR = frozenset({_WHICH, _WHICH_AFTER, _NUMBER})
"""Kinds of words that make a week one beside today, or several."""
_ANY_NUMBER = any_of(*NUMBERS.values())
_HAN_DAY, _HAN_NUMBER = "(?:周|週|星期|礼拜|禮拜)", "一二三四五六七八九十"
_PART_OF_DAY = "(?:vor|nach)?mittag|morgen|früh|abend|nacht"
# The last week of a journey is not last week, and "lundi en huit" is a Monday later than the next one.
_NOT_BESIDE_TODAY = (
    rf"the (?:last|next) (?:week|weekend|month|year) of|(?:{any_of(WEEKDAYS['fr'])}) en (?:huit|quinze)"
    r"|d(?:ie|er|en|em|as) letzten? (?:woche|wochenendes?|monate?s?|jahre?s?) (?:des|vom)"
    rf"|derni(?:er|ère) (?:semaine|week-?end|mois|an|année) d(?:es?|u)?|últim[oa] (?:semana|fin de semana|mes|año) del?"
)
# Kind, value, words in Latin letters, words in Chinese. Among words that begin at the same place, the first row wins.
_WORDS: list[tuple[str, int | str, str, str]] = [
    (_DATE, "", LATIN_DATES, HAN_DATES),
    (_OTHER, 0, rf"half an?|quarter of an?|(?:\d+|{_ANY_NUMBER}) \w+ (?:and a half|et demie?|y medi[oa])", ""),
    (_OTHER, 0, _NOT_BESIDE_TODAY, ""),
    (_DAY, -4, "", "大大前天"),
    (_DAY, 4, "", "大大[后後]天"),
    (_DAY, -3, "vorvorgestern", "大前天"),
    (_DAY, 3, "überübermorgen", "大[后後]天"),
    (_DAY, -2, "day before yesterday|night before last|vorgestern|avant[- ]hier", "前天"),
    (_DAY, -2, "ant(?:es de |e ?)ayer|antier|antea?noche", ""),
    (_DAY, -1, "yesterday|last night|gestern|hier|ayer|anoche", "昨[天晚日]"),
    (_DAY, 0, "today|tonight|this (?:morning|afternoon|evening)|heute|diesen (?:(?:vor|nach)mittag|morgen|abend)", ""),
    (_DAY, 0, "aujourd['’]hui|ce (?:matin|soir)|cet après-midi|hoy|esta (?:mañana|tarde|noche)", "今[天晚早日]"),
    (_DAY, 2, "day after tomorrow|übermorgen|apr[èe]s[- ]demain|pasado mañana", "[后後]天"),
    (_DAY, 1, "(?<!am )(?<!diesem )(?<!jeden )(?<!heute )(?<!guten )(?<!gestern )(?<![sz]ten )morgen|demain", ""),
    (_DAY, 1, "tomorrow|(?<!la )(?<!esa )(?<!esta )(?<!una )(?<!otra )(?<!cada )(?<!ayer )mañana", "明[天晚早日]"),
    (_WEEKEND, 0, "weekend|wochenende|week-?end|fin de semana", ""),
    ("e", 0, "", "[周週]末"),
    *((_WHICH_WEEK, side, "", f"{han}[个個]?(?={_HAN_DAY}[{_HAN_NUMBER}日天末])")
      for side, han in ((-2, "上上"), (-1, "上"), (0, "[这這本]"), (2, "下下"), (1, "下"))),
    *((_WEEKDAY, place, rf"(?:{name})(?: ?(?:{_PART_OF_DAY}))?", "") for place, name in enumerate(WEEKDAYS["de"])),
    *((_WEEKDAY, place, any_of(WEEKDAYS["en"][place], WEEKDAYS["es"][place]), "") for place in range(_WEEK)),
    *(("w", place, name, f"{_HAN_DAY}{han}")
      for place, (name, han) in enumerate(zip(WEEKDAYS["fr"], (*"一二三四五六", "[日天]"), strict=True))),
    ("y", "", "", r"(?<!\d)(?:1[0-9]|20)\d\d年|(?:(?<=\b[ie]n )|(?<=since )|(?<=seit ))(?:1[0-9]|20)\d\d(?!\d)"),
    (_DATED, "", "", r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)"),
    *((_MONTH, place + 1, "|".join(MONTHS[language][place] for language in MONTHS), "") for place in range(_YEAR)),
    *(("m", place, "", rf"(?<![\d{_HAN_NUMBER}])(?:{place}|{han})月份?")
      for place, han in enumerate((*_HAN_NUMBER, "十一", "十二"), 1)),
    (_UNIT, "year", r"(?<=un )an|an(?= derni| pass| prochain)", ""),
    *((_UNIT, unit, "|".join(UNITS[language][unit] for language in UNITS), han) for unit, han in (
        ("year", "年"), ("month", "[个個]?月"), ("week", f"[个個]?{_HAN_DAY}"), ("day", "天"))),
    (_WHICH_AFTER, -2, "before last|avant-derni(?:er|ère)|antepasad[oa]", ""),
    (_WHICH, -2, "vorletzte[nrms]?", "上上|前(?=年)"),
    (_WHICH, -1, "last|previous|letzte[nrms]?|vorige[nrms]?|vergangene[nrms]?", "[上去]"),
    (_WHICH_AFTER, -1, "derni(?:er|ère)s?|passée?s?|pasad[oa]s?|anterior(?:es)?|últim[oa]s?", ""),
    (_WHICH, 0, "this|diese[nrms]?|cet(?:te)?|ce|est[ea]", "[这這本今]"),
    (_WHICH, 2, "übernächste[nrms]?", "下下"),
    (_WHICH, 1, "next|coming|nächste[nrms]?|kommende[nrms]?", "[下明]"),
    (_WHICH_AFTER, 1, "prochaine?s?|próxim[oa]s?|que viene", ""),
    (_PAST, -1, "past", "最近|[过過]去"),
    (_BACK, 0, "vor|il y a|hace", ""),
    (_AGO, 0, "ago|back|earlier", "[以之]?前"),
    (_AHEAD, 0, "from now|from today", "[以之]?[后後]|内"),
    (_SINCE, 0, "since|seit|depuis|desde", "自从?|自從|从(?=[上本这去周星])|從(?=[上本這去週星])"),
    (_EVERY, 0, "every|each|jede[nrms]?|chaque|tous les|les|los|cada", "每[个個]?"),
    (_THE, 0, "le", ""),
    (_ON, 0, "on|in|at|over|during|am|im|dentro de|dans|en|au mois de|el|by|until|till|bis|para|antes del", "在"),
    (_ON, 0, "early|mid|late|beginning|middle|end|anfang|mitte|ende|début|mi|fin|principios|mediados|finales", ""),
    (_NUMBER, "", "", f"[二三四五六七八九]?十[{_HAN_NUMBER[:9]}]?"),
    # A part of "twenty-one" is no number.
    *((_NUMBER, place + 1, f"(?<!-)(?:{'|'.join(NUMBERS[language][place] for language in NUMBERS)})(?!-)", han)
      for place, han in enumerate(("一", "[二两兩]", *_HAN_NUMBER[2:9], *[""] * 11))),
    (_NUMBER, "", "", r"(?<!\d)\d{1,3}(?!\d)"),
]  # fmt: skip
_LATIN_ROWS, _HAN_ROWS = ([row for row in _WORDS if row[column]] for column in (-2, -1))
_ROWS = [*_LATIN_ROWS, *_HAN_ROWS]
"""The row of each group of the lexer."""
_HAN = re.compile("[\u3400-\u9fff]")
# Other characters begin no word: each word begins with a digit or with a character of its pattern.
_FIRST = "".join(sorted(set(_HAN.findall("".join(row[-1] for row in _HAN_ROWS)))))
_LEXER = re.compile(
    rf"(?<!\w)(?:{'|'.join(f'({row[-2]})' for row in _LATIN_ROWS)})(?!\w)"
    rf"|(?=[\d{_FIRST}])(?:{'|'.join(f'({row[-1]})' for row in _HAN_ROWS)})"
)
# Matches where a day may be named. Each rule needs such a word, and the lexer is slow.
_DAY_WORDS = "|".join(row[-2] for row in _LATIN_ROWS if row[0] in "DWwEMU")
_NAMES_DAY = re.compile(rf"[\u3400-\u9fff]|(?<!\d)(?:1[0-9]|20)\d\d|(?<!\w)(?:{_DAY_WORDS})(?!\w)|{MAY_BE_DATE}")
_TO = re.compile(r"(?:,? (?:to|until|till|through|bis(?: zum)?|al|hasta(?: el)?|au) | ?[-–—~到至] ?)(?:the |den )?")
_DAY_BEFORE = re.compile(rf"(?<![\d.:/€$-])(\d\d?)(?:st|nd|rd|th|er|\.)?(?:{_TO.pattern})$")
_DAY_AFTER = re.compile(rf"(?:{_TO.pattern})(\d\d?)(?:st|nd|rd|th|[日号號])?(?![\w:]|\.\d)")
_RANGE, _REACH = "|", 20
"""Between the first and the last day in the value of a token, and how far before the last one the first one is."""
_FILLER = re.compile(r"[\s,，'’()\uff08\uff09-]*(?:(?:the|of|des?|del|du|la|dem|der|den|vom|l|的)(?!\w)[\s,，'’]*)*")
_BETWEEN = re.compile(r"(\d{4}-\d\d-\d\d)\b\D{1,12}(\d{4}-\d\d-\d\d)\b")
# In the order in which they are tried
_RULES = {
    name: re.compile(pattern)
    for name, pattern in {
        "within": "[SAP]NU|NAU|INU|PU",
        "ago": "NUG|VNU",
        "date": "[Ww]?T[Ww]?",
        "ahead": "NUF|ONU",
        "day": "D",
        "which": "[SA]U|UA|B(?=[wWe])|[SA](?=[Ee])|(?<=[Ee])A",
        "dated": "[Mm][Yy]|[Yy][Mm]",
        "side": "[SA][WwMm]|[WwMm]A",
        "year": "(?<=U)Y|y",
        "latest": "[OI][WwMmEe]|LE|(?<![CL])[wme]",
    }.items()
}
# A weekday in a week, a weekend of a week, and a month of a year; each may stand elsewhere in the question.
_WITHIN_WEEK, _WITHIN_YEAR = re.compile("(?<!C)[WwEe]"), re.compile("(?<=[OISAYU])M|M(?=[SAN])|m")


_COMING = re.compile(
    r"\b(?:what['’]s|what is|is there|am i|are we|(?:do|should|can|must) (?:i|we)|will|shall|going to|plan\w*"
    r"|coming|due|upcoming|steht|wird|werden?|geplant|was ist|kommt|kommen|muss|soll|tengo|hay|toca|voy|vamos"
    r"|tenemos|será)\b"
    r"|有什么|有什麼|安排|计划|計劃|会有|會有|打算|要做"
)
"""Says of a question that it asks for what is to come."""


class _Token(NamedTuple):
    kind: str
    value: int | str
    begin: int
    end: int


class _Tense(NamedTuple):
    ahead: bool
    """A weekday or month by its name alone is the next one; else it is the latest one."""
    past: bool
    """A date without a year is the latest one; else it is the nearest one."""


_Read = tuple[Span, Sequence[_Token]]
"""Days, and the tokens that name them."""


def span_of(question: str, now: datetime, *, years: bool = False) -> Span | None:
    """Return the days that a question names relative to `now`, None if it names none or an impossible date.

    `now` is in the zone of the user. A year alone counts only with `years`, because it is often part of a title, or of
    a fact of which no message tells in that year.
    """
    found = _read(question, now.date(), years=years)
    return found and found[0]


def times_of(question: str, now: datetime) -> tuple[Span | None, str]:
    """Return the days that a question names, see `span_of`, and the question without relative words for these days.

    Dates, months and years stay, which texts and their dates may have, with the words before them. The question stays
    as it is if nothing but "last week" or other such words would be left out.
    """
    text = " ".join(question.split())
    found = _read(text, now.date(), years=False)
    if found is None or len(_plain(text)) != len(text):
        return found and found[0], question
    for begin, end in sorted(found[1], reverse=True):
        text = f"{text[:begin]} {text[end:]}"
    is_shorter = any(map(str.isalnum, text)) and split_keywords(text) != split_keywords(question)
    return found[0], text if is_shorter else question


@lru_cache(maxsize=4096)
def spans_in(text: str, said: date | None) -> tuple[Span, ...]:
    """Return the days that a text names, which was said on a day; if that is unknown, only dates with a year."""
    found = list[Span]()
    for sentence in split_sentences(text) if _NAMES_DAY.search(_plain(text)) else ():
        tokens, tense = _tokens(_plain(sentence)), partial(_tense, sentence, is_asked=False)
        with suppress(ValueError, OverflowError):
            while len(found) < _MOST_DATES and (read := _span(tokens, said or date.min, tense, years=False)):
                span, used = read
                named = "".join(one.kind for one in used)
                dates = [one for token in used if token.kind == _DATE for one in _dates(token.value)]
                if said is not None or any(one.year is not None for one in dates) or named.upper() in {"MY", "YM"}:
                    found.append(span)
                tokens = tuple(one._replace(kind=_OTHER) if one in used else one for one in tokens)
    return tuple(found)


def _dates(value: int | str) -> list[CalendarDate]:
    parts = str(value).split(_RANGE)
    return [CalendarDate(None, None, int(one)) if one.isdecimal() else CalendarDate.read(one) for one in parts]


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


@cache
def _past_forms(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    data = table_of(__package__, "past_forms")
    joined = ("|".join(data[language][name]).replace("\\\n", "") or "$^" for name in ("others", "past"))
    others, past = (re.compile(one, re.IGNORECASE) for one in joined)
    return others, past


def _tense(text: str, *, is_asked: bool) -> _Tense:
    past = _tells_of_past(text)
    return _Tense(not past and (not is_asked or bool(_COMING.search(_plain(text)))), past=past and is_asked)


@lru_cache(maxsize=64)
def _tells_of_past(text: str) -> bool:
    """Return whether a text tells of the past: a day in it without a week, month or year is the latest such day."""
    flat = " ".join(text.split())[:_LONGEST]
    others, past = _past_forms("zh" if _HAN.search(flat) else language_of(flat))
    return past.search(others.sub(" ", flat)) is not None


def _read(question: str, today: date, *, years: bool) -> tuple[Span, Sequence[tuple[int, int]]] | None:
    """Return the days that a question names, and begins and ends of the relative words by which it names them."""
    text = _plain(question)
    try:
        if found := _BETWEEN.search(text):
            first, last = sorted(map(date.fromisoformat, found.groups()))
            return Span(first, last), [found.span()]
        if not _NAMES_DAY.search(text):
            return None
        read = _span(_tokens(text), today, partial(_tense, question, is_asked=True), years=years)
    except (ValueError, OverflowError):
        return None
    return read and (read[0], [(one.begin, one.end) for one in read[1] if one.kind not in _CALENDAR])


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[_Token, ...]:
    """Return the tokens of a text, also of words between that are no fillers; a recall reads its question twice."""
    tokens, end = list[_Token](), 0
    for found in _LEXER.finditer(text):
        if found[0] == "hier" and language_of(text) == "de":
            continue  # it means "here"
        kind, value, *_ = _ROWS[(found.lastindex or 0) - 1]
        if not _FILLER.fullmatch(text, end, found.start()):
            tokens.append(_Token(_OTHER, 0, end, end))
        if value == "":
            value = _range_at(found, tokens) if kind == _DATE else read_number(found[0].rstrip("年"))
        tokens.append(_Token(kind, value, *found.span()))
        end = found.end()
    return tuple(tokens)


def _range_at(found: re.Match[str], tokens: list[_Token]) -> str:
    """Return a date; if it is the end of consecutive days, or their beginning, both ends. A token of the other goes."""
    first = next((one for one in reversed(tokens[-3:]) if one.kind == _DATE), None)
    if first is not None and _TO.fullmatch(found.string, first.end, found.start()):
        del tokens[tokens.index(first) :]
        return f"{first.value}{_RANGE}{found[0]}"
    if before := _DAY_BEFORE.search(found.string, max(0, found.start() - _REACH), found.start()):
        return f"{before[1]}{_RANGE}{found[0]}"
    after = _DAY_AFTER.match(found.string, found.end()) if found[0][-1] in "0123456789日号號" else None
    return f"{found[0]}{_RANGE}{after[1]}" if after else found[0]


def _span(tokens: Sequence[_Token], today: date, tense: Callable[[], _Tense], *, years: bool) -> _Read | None:
    """Return the days that the first rule that fits reads relative to `today`, and the tokens; see `span_of`."""
    kinds = "".join(token.kind for token in tokens)
    matches = ((name, pattern.search(kinds)) for name, pattern in _RULES.items() if years or name != "year")
    name, found = next(((name, found) for name, found in matches if found), ("", None))
    if found is None:
        return None
    used = list(tokens[found.start() : found.end()])
    before = tokens[found.start() - 1] if found.start() else None
    is_since = _SINCE in {kinds[found.start()], before and before.kind}
    values = {token.kind.upper(): token.value for token in used}
    inner = None
    if name == "within":
        unit, number = str(values.get(_UNIT, "week")), int(values.get(_NUMBER, 1))
        return Span(span_around(today, unit, -number, whole=False).first, today), used
    if name == "date":
        is_week = before is not None and before.value == "week" and not set(kinds[: found.start() - 1]) & _NEAR
        span, beside = _dated(tokens, found, today, tense(), is_since=is_since)
        span = span_around(span.last, "week") if is_week else span
        used += beside
    elif name == "day":
        year, beside = _year_beside(tokens, found, today)
        day = today + timedelta(int(values[_DAY]))
        span = Span(*[day.replace(year=year or day.year)] * 2)
        used += beside
    elif name == "which" and values.get(_UNIT) == "day":
        # The last and the next day are those of something else, and no yesterday or tomorrow.
        return _span([one._replace(kind=_OTHER) if one in used else one for one in tokens], today, tense, years=years)
    elif name in ("ago", "ahead", "which"):
        span, inner = _counted(name, values, kinds, tokens, today)
    elif name == "year":
        span = span_around(date(int(values[_DATED]), 1, 1), "year")
        inner = next((tokens[one.start()] for one in _WITHIN_YEAR.finditer(kinds)), None)
        span = _part(span, inner) if inner else span
    else:
        named = next(token for token in used if token.kind in "WwMmEe")
        year = int(values[_DATED]) if name == "dated" else None
        span = _named(
            named, today, _side(values) if name == "side" else None, year, ahead=not is_since and tense().ahead
        )
    used += [] if inner is None else [inner]
    if is_since:
        span = Span(span.first, today) if span.first <= today else span
    return span, [*used, *([before] if before and before.kind in {_SINCE, _ON} else [])]


def _dated(
    tokens: Sequence[_Token], found: re.Match[str], today: date, told: _Tense, *, is_since: bool
) -> tuple[Span, Sequence[_Token]]:
    """Return the days of a date, or of its first and last one, and the words beside it that give its year."""
    value = next(one.value for one in tokens[found.start() : found.end()] if one.kind == _DATE)
    first, last = (dates := _dates(value))[0], dates[-1]
    year, beside = _year_beside(tokens, found, today)
    last = last._replace(year=last.year or first.year or year, month=last.month or first.month)
    day = last.near(today, ahead=told.ahead, latest=told.past or is_since)
    begin = date(first.year or day.year, first.month or day.month, first.day)
    if begin > day and begin.month > day.month and first.year is None:
        begin = begin.replace(year=day.year - 1)
    return Span(min(begin, day), day), beside


def _year_beside(tokens: Sequence[_Token], found: re.Match[str], today: date) -> tuple[int | None, Sequence[_Token]]:
    """Return the year that words beside a day give relative to today, as in "March 10 last year", and these words."""
    before = [one for one in tokens[: found.start()][-3:] if one.kind != _ON]
    for pair in (tokens[found.end() : found.end() + 2], before[-2:]):
        values = {one.kind: one.value for one in pair}
        if values.get(_UNIT) == "year" and values.keys() & {_WHICH, _WHICH_AFTER}:
            return today.year + _side(values), pair
    return None, ()


def _side(values: Mapping[str, int | str]) -> int:
    return int(next((values[kind] for kind in (_WHICH, _WHICH_AFTER, _WHICH_WEEK) if kind in values), 0))


def _counted(
    name: str, values: Mapping[str, int | str], kinds: str, tokens: Sequence[_Token], today: date
) -> tuple[Span, _Token | None]:
    """Return a day, week, month or year before or after today, or a part of it that a further token names."""
    unit, number = str(values.get(_UNIT, "week")), int(values.get(_NUMBER, 1))
    count = {"ago": -number, "ahead": number}.get(name, _side(values))
    narrower = {"week": _WITHIN_WEEK, "year": _WITHIN_YEAR}.get(unit)
    found = narrower and narrower.search(kinds)
    inner = tokens[found.start()] if found else None
    span = span_around(today, unit, count, whole=name == "which" or unit != "week" or bool(inner))
    if inner:
        span = _part(span, inner)
    elif name == "ago" and unit == "week":
        # "Two weeks ago" is said of the days around as well.
        span = Span(span.first - timedelta(_WEEK // 2), span.last + timedelta(_WEEK // 2))
    return span, inner


def _part(whole: Span, token: _Token) -> Span:
    value = int(token.value)
    if token.kind.upper() == _MONTH:
        return span_around(whole.first, "month", value - 1)
    if token.kind.upper() == _WEEKEND:
        return Span(whole.first + timedelta(_SATURDAY), whole.last)
    return Span(whole.first + timedelta(value), whole.first + timedelta(value))


def _named(token: _Token, today: date, side: int | None, year: int | None, *, ahead: bool) -> Span:
    """Return a weekday, weekend or month by its name, the month of a given year.

    `side` is 0 for the one of this week or year, -1 for the last one before today, 1 for the next one after it. Without
    a side, it is the latest one that has begun, or today or the next one if `ahead`.
    """
    value, steps = int(token.value), partial(_steps, side=side, ahead=ahead)
    if token.kind.upper() == _MONTH:
        if year is not None:
            return span_around(date(year, value, 1), "month")
        return span_around(today, "month", steps(today.month, value, _YEAR))
    if token.kind.upper() == _WEEKEND:
        saturday = today + timedelta(steps(today.weekday(), _SATURDAY, _WEEK))
        return Span(saturday, saturday + timedelta(1))
    day = today + timedelta(steps(today.weekday(), value, _WEEK))
    return Span(day, day)


def _steps(present: int, wanted: int, cycle: int, *, side: int | None, ahead: bool) -> int:
    """Return how many steps lead from the present place of a cycle to the wanted one; see `_named`."""
    if side is None:
        return (wanted - present) % cycle if ahead else -((present - wanted) % cycle)
    if side == 0:
        return wanted - present
    if side < 0:
        return -((present - wanted - 1) % cycle) - 1 + cycle * (side + 1)
    return (wanted - present - 1) % cycle + 1 + cycle * (side - 1)


def span_around(today: date, unit: str, count: int = 0, *, whole: bool = True) -> Span:
    """Return the day, week, month or year `count` units from today; a part of it that ends today if not `whole`."""
    if unit in ("month", "year"):
        months = today.year * _YEAR + today.month - 1 + count * (_YEAR if unit == "year" else 1)
        first = date(months // _YEAR, 1 if unit == "year" else months % _YEAR + 1, 1)
        if not whole:
            return Span(first.replace(month=months % _YEAR + 1), today)
        last = first.replace(month=_YEAR if unit == "year" else first.month)
        return Span(first, last.replace(day=monthrange(last.year, last.month)[1]))
    day = today + timedelta(count * (_WEEK if unit == "week" else 1))
    if unit == "day" or not whole:
        return Span(day, day)
    monday = day - timedelta(day.weekday())
    return Span(monday, monday + timedelta(_WEEK - 1))
