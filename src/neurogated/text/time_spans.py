"""Which days a question for a relative time means, such as "last Friday", "im März" or "两周前".

The table `_WORDS` turns a question into tokens. The kind of a token is a letter, and the rules are patterns of letters.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from neurogated.text.calendar_words import MONTHS, NUMBERS, UNITS, WEEKDAYS
from neurogated.text.language import language_of

_MOST_DAYS = 14
_WEEK, _YEAR, _SATURDAY = 7, 12, 5
_DAYS_OF_A_YEAR, _SHORTER_THAN_A_MONTH = 366, 27


class Span(NamedTuple):
    """Consecutive days, in UTC."""

    first: date
    last: date

    def holds(self, moment: datetime | None) -> bool:
        """Return whether a time is in the span; False for None."""
        return moment is not None and self.first <= moment.astimezone(UTC).date() <= self.last

    def is_before(self, moment: datetime | None) -> bool:
        """Return whether the span ends on a day before that of a time; False for None."""
        return moment is not None and self.last < moment.astimezone(UTC).date()

    @property
    def dates(self) -> str:
        """The dates, or the months of a longer span, as text for keyword search."""
        days = (self.last - self.first).days + 1
        if days <= _MOST_DAYS:
            return " ".join(f"{day.day} {day:%B %Y}" for day in (self.first + timedelta(n) for n in range(days)))
        return " ".join(
            dict.fromkeys(
                f"{self.first + timedelta(n):%B %Y}"
                for n in range(0, min(days, _DAYS_OF_A_YEAR), _SHORTER_THAN_A_MONTH)
            )
        )


# A capital letter is a kind of words; its small letter the words of that kind that need no preposition.
_DAY, _WEEKDAY, _WEEKEND, _MONTH, _UNIT, _DATED = "D", "W", "E", "M", "U", "Y"
_WHICH, _WHICH_AFTER, _WHICH_WEEK, _PAST, _NUMBER, _AGO, _BACK = "S", "A", "B", "P", "N", "G", "V"
_ON, _THE, _SINCE, _EVERY, _OTHER = "O", "L", "I", "C", "."
_HAN_DAY, _HAN_NUMBER = "(?:周|週|星期|礼拜|禮拜)", "一二三四五六七八九十"
# Kind, value, words in Latin letters, words in Chinese. Among words that begin at the same place, the first row wins.
_WORDS: list[tuple[str, int | str, str, str]] = [
    (_DAY, -2, "day before yesterday|vorgestern|avant-hier|anteayer|antier", "前天"),
    (_DAY, -1, "yesterday|last night|gestern|hier|ayer|anoche", "昨[天晚日]"),
    (_DAY, 0, "today|tonight|this (?:morning|afternoon|evening)|heute|aujourd['’]hui|ce (?:matin|soir)|hoy",
     "今[天晚早日]"),
    (_DAY, 2, "day after tomorrow|übermorgen|après-demain|pasado mañana", "[后後]天"),
    (_DAY, 1, "tomorrow|demain", "明[天晚日]"),
    (_WEEKEND, 0, "weekend|wochenende|week-?end|fin de semana", ""),
    ("e", 0, "", "[周週]末"),
    *((_WHICH_WEEK, side, "", f"{han}[个個]?(?={_HAN_DAY}[{_HAN_NUMBER}日天末])")
      for side, han in ((-2, "上上"), (-1, "上"), (0, "[这這本]"), (1, "下"))),
    *((_WEEKDAY, place, "|".join(WEEKDAYS[language][place] for language in ("en", "de", "es")), "")
      for place in range(_WEEK)),
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
    (_WHICH, 1, "next|coming|nächste[nrms]?|kommende[nrms]?", "[下明]"),
    (_WHICH_AFTER, 1, "prochaine?s?|próxim[oa]s?|que viene", ""),
    (_PAST, -1, "past", "最近|[过過]去"),
    (_BACK, 0, "vor|il y a|hace", ""),
    (_AGO, 0, "ago|back", "前"),
    (_SINCE, 0, "since|seit|depuis|desde", "自从?|自從"),
    (_EVERY, 0, "every|each|jede[nrms]?|chaque|tous les|les|los|cada", "每[个個]?"),
    (_THE, 0, "le", ""),
    (_ON, 0, "on|in|at|over|during|am|im|en|au mois de|el", "在"),
    *((_NUMBER, place + 1, "|".join(NUMBERS[language][place] for language in NUMBERS), han)
      for place, han in enumerate(("一", "[二两兩]", *_HAN_NUMBER[2:]))),
    (_NUMBER, "", "", r"(?<!\d)\d{1,3}(?!\d)"),
]  # fmt: skip
_LATIN_ROWS, _HAN_ROWS = ([row for row in _WORDS if row[column]] for column in (-2, -1))
_ROWS = [*_LATIN_ROWS, *_HAN_ROWS]
"""The row of each group of the lexer."""
_LEXER = re.compile(
    rf"(?<!\w)(?:{'|'.join(f'({row[-2]})' for row in _LATIN_ROWS)})(?!\w)"
    rf"|(?=[\d\u3400-\u9fff])(?:{'|'.join(f'({row[-1]})' for row in _HAN_ROWS)})"
)
# Matches where a day may be named. Each rule needs such a word, and the lexer is slow.
_DAY_WORDS = "|".join(row[-2] for row in _LATIN_ROWS if row[0] in "DWwEMU")
_NAMES_DAY = re.compile(rf"[\u3400-\u9fff]| (?:1[0-9]|20)\d\d|(?<!\w)(?:{_DAY_WORDS})(?!\w)")
_FILLER = re.compile(r"[\s,'’]*(?:(?:the|of|des?|del|du|la|dem|der|den|l|的)(?!\w)[\s,'’]*)*")
_BETWEEN = re.compile(r"(\d{4}-\d\d-\d\d)\b\D{1,12}(\d{4}-\d\d-\d\d)\b")
# In the order in which they are tried
_RULES = {
    name: re.compile(pattern)
    for name, pattern in {
        "within": "[SAP]NU|NAU|INU|PU",
        "ago": "NUG|VNU",
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


class _Token(NamedTuple):
    kind: str
    value: int | str


def span_of(question: str, now: datetime, *, years: bool = False) -> Span | None:
    """Return the days that a question names relative to `now`, None if it names none or an impossible date.

    A year alone counts only with `years`, because it is often part of a title, or of a fact of which no message tells
    in that year.
    """
    text = " ".join(question.lower().split())
    try:
        if found := _BETWEEN.search(text):
            first, last = sorted(map(date.fromisoformat, found.groups()))
            return Span(first, last)
        if not _NAMES_DAY.search(text):
            return None
        return _span(_tokens(text), now.astimezone(UTC).date(), years=years)
    except (ValueError, OverflowError):
        return None


def _tokens(text: str) -> list[_Token]:
    """Return the tokens of a text; words between two tokens that are no fillers are a token themselves."""
    tokens, end = [], 0
    for found in _LEXER.finditer(text):
        if found[0] == "hier" and language_of(text) == "de":
            continue  # it means "here"
        kind, value, *_ = _ROWS[(found.lastindex or 0) - 1]
        if not _FILLER.fullmatch(text, end, found.start()):
            tokens.append(_Token(_OTHER, 0))
        tokens.append(_Token(kind, value if value != "" else int(found[0].rstrip("年"))))
        end = found.end()
    return tokens


def _span(tokens: list[_Token], today: date, *, years: bool) -> Span | None:
    kinds = "".join(token.kind for token in tokens)
    matches = ((name, pattern.search(kinds)) for name, pattern in _RULES.items() if years or name != "year")
    name, found = next(((name, found) for name, found in matches if found), ("", None))
    if found is None:
        return None
    values = {token.kind.upper(): token.value for token in tokens[found.start() : found.end()]}
    side = int(next((values[kind] for kind in (_WHICH, _WHICH_AFTER, _WHICH_WEEK) if kind in values), 0))
    unit, number = str(values.get(_UNIT, "week")), int(values.get(_NUMBER, 1))
    if name == "within":
        return Span(_around(today, unit, -number, whole=False).first, today)
    if name == "day":
        day = today + timedelta(int(values[_DAY]))
        span = Span(day, day)
    elif name in ("ago", "which"):
        count = -number if name == "ago" else side
        narrower = {"week": _WITHIN_WEEK, "year": _WITHIN_YEAR}.get(unit)
        inner = narrower and narrower.search(kinds)
        span = _around(today, unit, count, whole=name == "which" or unit != "week" or bool(inner))
        if inner:
            span = _part(span, tokens[inner.start()])
        elif name == "ago" and unit == "week":
            # "Two weeks ago" is said of the days around as well.
            span = Span(span.first - timedelta(_WEEK // 2), span.last + timedelta(_WEEK // 2))
    elif name == "year":
        span = _around(date(int(values[_DATED]), 1, 1), "year", 0, whole=True)
        inner = _WITHIN_YEAR.search(kinds)
        span = _part(span, tokens[inner.start()]) if inner else span
    else:
        named = next(token for token in tokens[found.start() : found.end()] if token.kind in "WwMmEe")
        year = int(values[_DATED]) if name == "dated" else None
        span = _named(named, today, side if name == "side" else None, year)
    since = _SINCE in kinds[max(0, found.start() - 1) : found.start() + 1]
    return Span(span.first, today) if since and span.first <= today else span


def _part(whole: Span, token: _Token) -> Span:
    """Return the weekday or weekend of a week, or the month of a year."""
    value = int(token.value)
    if token.kind.upper() == _MONTH:
        return _around(whole.first, "month", value - 1, whole=True)
    if token.kind.upper() == _WEEKEND:
        return Span(whole.first + timedelta(_SATURDAY), whole.last)
    return Span(whole.first + timedelta(value), whole.first + timedelta(value))


def _named(token: _Token, today: date, side: int | None, year: int | None) -> Span:
    """Return a weekday, weekend or month by its name.

    Args:
        token: the name.
        today: the present day.
        side: 0 for the one of this week or year, -1 for the last one before today, 1 for the next one after it; None
            for the latest one that has begun.
        year: the year of a month, if it is given.
    """
    value = int(token.value)
    if token.kind.upper() == _MONTH:
        if year is not None:
            return _around(date(year, value, 1), "month", 0, whole=True)
        return _around(today, "month", _steps(today.month, value, _YEAR, side), whole=True)
    if token.kind.upper() == _WEEKEND:
        saturday = today + timedelta(_steps(today.weekday(), _SATURDAY, _WEEK, None))
        return Span(saturday, saturday + timedelta(1))
    day = today + timedelta(_steps(today.weekday(), value, _WEEK, side))
    return Span(day, day)


def _steps(present: int, wanted: int, cycle: int, side: int | None) -> int:
    """Return how many steps lead from the present place of a cycle to the wanted one; see `_named`."""
    if side is None:
        return -((present - wanted) % cycle)
    if side == 0:
        return wanted - present
    if side < 0:
        return -((present - wanted - 1) % cycle) - 1 + cycle * (side + 1)
    return (wanted - present - 1) % cycle + 1 + cycle * (side - 1)


def _around(today: date, unit: str, count: int, *, whole: bool) -> Span:
    """Return the day, week, month or year that is `count` units from today.

    If not `whole`, return one day for units of days or weeks, else the days from the first of that month until today.
    """
    if unit in ("month", "year"):
        months = today.year * _YEAR + today.month - 1 + count * (_YEAR if unit == "year" else 1)
        first = date(months // _YEAR, 1 if unit == "year" else months % _YEAR + 1, 1)
        if not whole:
            return Span(first.replace(month=months % _YEAR + 1), today)
        months = first.year * _YEAR + first.month - 1 + (_YEAR if unit == "year" else 1)
        after = date(months // _YEAR, months % _YEAR + 1, 1)
        return Span(first, after - timedelta(1))
    day = today + timedelta(count * (_WEEK if unit == "week" else 1))
    if unit == "day" or not whole:
        return Span(day, day)
    monday = day - timedelta(day.weekday())
    return Span(monday, monday + timedelta(_WEEK - 1))
