"""Questions about a relative time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.model import MemoryNode
from neurogated.core.view import Rows
from neurogated.storage.index.graph_index import said_of
from neurogated.storage.reader import Reader
from neurogated.text import time_spans
from neurogated.text.time_spans import span_of

NOW = datetime(2026, 5, 13, 15, tzinfo=UTC)
"""A Wednesday."""
TENSE = partial(time_spans._Tense, ahead=False, past=False)
WEEK = (date(2026, 5, 4), date(2026, 5, 10))


@pytest.mark.parametrize(
    ("question", "span"),
    [
        ("What did I do last week?", WEEK),
        ("Was habe ich letzte Woche gemacht?", WEEK),
        ("Qu'ai-je fait la semaine dernière ?", WEEK),
        ("¿Qué hice la semana pasada?", WEEK),
        ("我上周做了什么？", WEEK),
        ("What did I eat yesterday?", (date(2026, 5, 12), date(2026, 5, 12))),
        ("Wen traf ich vorgestern?", (date(2026, 5, 11), date(2026, 5, 11))),
        ("Qu'ai-je mangé hier ?", (date(2026, 5, 12), date(2026, 5, 12))),
        ("What happened three days ago?", (date(2026, 5, 10), date(2026, 5, 10))),
        ("Was geschah vor zwei Monaten?", (date(2026, 3, 1), date(2026, 3, 31))),
        ("Où étais-je il y a deux ans ?", (date(2024, 1, 1), date(2024, 12, 31))),
        ("¿Dónde estuve hace dos semanas?", (date(2026, 4, 26), date(2026, 5, 2))),
        ("What have I read in the last 10 days?", (date(2026, 5, 3), date(2026, 5, 13))),
        ("What is planned next month?", (date(2026, 6, 1), date(2026, 6, 30))),
        ("What did I spend this year?", (date(2026, 1, 1), date(2026, 12, 31))),
        ("What did I read in the past week?", (date(2026, 5, 6), date(2026, 5, 13))),
        ("我最近三天读了什么？", (date(2026, 5, 10), date(2026, 5, 13))),
        ("Qu'ai-je lu ces deux dernières semaines ?", (date(2026, 4, 29), date(2026, 5, 13))),
        ("What happened the week before last?", (date(2026, 4, 27), date(2026, 5, 3))),
        ("我两周前做了什么？", (date(2026, 4, 26), date(2026, 5, 2))),
        ("What did we decide on Monday last week?", (date(2026, 5, 4), date(2026, 5, 4))),
        ("Was war am Freitag letzter Woche?", (date(2026, 5, 8), date(2026, 5, 8))),
        ("我上上周五做了什么？", (date(2026, 5, 1), date(2026, 5, 1))),
        ("Whom did I meet two weeks ago on Friday?", (date(2026, 5, 1), date(2026, 5, 1))),
        ("What did I buy in March last year?", (date(2025, 3, 1), date(2025, 3, 31))),
        ("我去年三月买了什么？", (date(2025, 3, 1), date(2025, 3, 31))),
        ("Was kaufte ich im März 2024?", (date(2024, 3, 1), date(2024, 3, 31))),
        ("2024年3月我买了什么？", (date(2024, 3, 1), date(2024, 3, 31))),
        ("What have I done since last Friday?", (date(2026, 5, 8), date(2026, 5, 13))),
        ("Was geschah seit März?", (date(2026, 3, 1), date(2026, 5, 13))),
        ("Qu'ai-je lu depuis deux semaines ?", (date(2026, 4, 29), date(2026, 5, 13))),
        ("What happened twelve days ago?", (date(2026, 5, 1), date(2026, 5, 1))),
        ("Wen traf ich vor vierzehn Tagen?", (date(2026, 4, 29), date(2026, 4, 29))),
        ("Qu'ai-je lu il y a quinze jours ?", (date(2026, 4, 28), date(2026, 4, 28))),
        ("¿Qué hice hace once días?", (date(2026, 5, 2), date(2026, 5, 2))),
        ("我十五天前做了什么？", (date(2026, 4, 28), date(2026, 4, 28))),
        ("我二十一天前做了什么？", (date(2026, 4, 22), date(2026, 4, 22))),
        ("What did I do twenty-one days ago?", None),
        ("What did I do half a year ago?", None),
        ("What did I do a quarter of a year ago?", None),
        ("Où étais-je il y a un an et demi ?", None),
        ("¿Dónde estuve hace dos meses y medio?", None),
        ("Was ist hier passiert?", None),
        ("What may I do every Monday?", None),
        ("¿Qué hago los lunes?", None),
        ("Que fait-elle le lundi ?", None),
        ("我每周五做什么？", None),
        ("Was mache ich montags?", None),
        ("Who led the march to the sea?", None),
        ("Notes between 2026-05-09 and 2026-05-01", (date(2026, 5, 1), date(2026, 5, 9))),
        ("Where is the last lighthouse?", None),
        ("Who met whom in 1999?", None),
        ("Between 2026-02-30 and 2026-03-01?", None),
        ("What is the ferry's name?", None),
        # The same words as people write them
        ("Qu'ai-je mangé avant hier ?", (date(2026, 5, 11), date(2026, 5, 11))),
        ("Que fait-on après demain ?", (date(2026, 5, 15), date(2026, 5, 15))),
        ("¿A quién vi antes de ayer?", (date(2026, 5, 11), date(2026, 5, 11))),
        ("¿Qué soñé antenoche?", (date(2026, 5, 11), date(2026, 5, 11))),
        ("What did I dream the night before last?", (date(2026, 5, 11), date(2026, 5, 11))),
        ("¿Qué comí esta mañana?", (date(2026, 5, 13), date(2026, 5, 13))),
        ("Was aß ich diesen Morgen?", (date(2026, 5, 13), date(2026, 5, 13))),
        ("¿Qué hice esa mañana?", None),
        ("Was geschah am Montagmorgen?", (date(2026, 5, 11), date(2026, 5, 11))),
        ("Was geschah am Montag Morgen?", (date(2026, 5, 11), date(2026, 5, 11))),
        # A step further
        ("大大前天我做了什么？", (date(2026, 5, 9), date(2026, 5, 9))),
        ("大大后天我要做什么？", (date(2026, 5, 17), date(2026, 5, 17))),
        ("下下周一我要做什么？", (date(2026, 5, 25), date(2026, 5, 25))),
        ("Was ist übernächste Woche?", (date(2026, 5, 25), date(2026, 5, 31))),
        # Dates of another year, and weeks of a date
        ("Whom did I meet on March 10th last year?", (date(2025, 3, 10), date(2025, 3, 10))),
        ("Whom did I meet last year on March 10?", (date(2025, 3, 10), date(2025, 3, 10))),
        ("Wen traf ich am 10. März letzten Jahres?", (date(2025, 3, 10), date(2025, 3, 10))),
        ("Qui ai-je vu le 10 mars de l'année dernière ?", (date(2025, 3, 10), date(2025, 3, 10))),
        ("¿A quién vi el 10 de marzo del año pasado?", (date(2025, 3, 10), date(2025, 3, 10))),
        ("我去年3月10日见了谁？", (date(2025, 3, 10), date(2025, 3, 10))),
        ("我去年今天在哪里？", (date(2025, 5, 13), date(2025, 5, 13))),
        ("What did I do the week of May 6?", (date(2026, 5, 4), date(2026, 5, 10))),
        ("Was tat ich in der Woche vom 6. Mai?", (date(2026, 5, 4), date(2026, 5, 10))),
        ("What did I do last week on May 6?", (date(2026, 5, 6), date(2026, 5, 6))),
        ("Was war Ende April?", (date(2026, 4, 1), date(2026, 4, 30))),
        ("What did I do in mid-April?", (date(2026, 4, 1), date(2026, 4, 30))),
        # Ends of something else than the present
        ("What did I do on the last day of April?", None),
        ("What happened on the last day of last week?", WEEK),
        ("What did I do in the last week of the journey?", None),
        ("What did I cook last week of course?", WEEK),
        ("Qu'ai-je fait la dernière semaine de mars ?", None),
        ("Was geschah am nächsten Morgen?", None),
        ("Je pars lundi en huit.", None),
    ],
)
def test_the_days_that_a_question_means(question: str, span: tuple[date, date] | None) -> None:
    assert span_of(question, NOW) == span


MONTHS = {
    "January": ("januar", "janvier", "enero", "一月", "1月"),
    "February": ("februar", "février", "febrero", "二月", "2月份"),
    "March": ("märz", "mars", "marzo", "三月", "3月"),
    "April": ("april", "avril", "abril", "四月", "4月"),
    "May": ("mai", "mai", "mayo", "五月", "5月"),
    "June": ("juni", "juin", "junio", "六月", "6月"),
    "July": ("juli", "juillet", "julio", "七月", "7月"),
    "August": ("august", "août", "agosto", "八月", "8月"),
    "September": ("september", "septembre", "septiembre", "九月", "9月"),
    "October": ("oktober", "octobre", "octubre", "十月", "10月"),
    "November": ("november", "novembre", "noviembre", "十一月", "11月"),
    "December": ("dezember", "décembre", "diciembre", "十二月", "12月"),
}
# The forms of a phrase: English with the English name, German, French, Spanish, and two in Chinese.
LATEST = (
    "What did I do on {}?",
    "Was tat ich {}?",
    "Qu'ai-je fait {} ?",
    "¿Qué hice {}?",
    "我在{}做了什么？",
    "{}呢？",
)
LAST = ("Last {}?", "Und letzten {}?", "Et {} dernier ?", "¿Y el {} pasado?")
NEXT = ("Who comes next {}?", "Wer kommt nächsten {}?", "Qui vient {} prochain ?", "¿Quién viene el próximo {}?")
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - with a zone


def _forms(
    phrases: tuple[str, ...], names: Mapping[str, tuple[str, ...]], before: tuple[str, ...] = ("",) * 4
) -> st.SearchStrategy:
    """Draw an English name and a phrase with the name in one language; `before` are words such as "am" and "el"."""
    return st.tuples(st.sampled_from(sorted(names)), st.integers(0, len(phrases) - 1)).map(
        lambda drawn: (drawn[0], phrases[drawn[1]].format(before[drawn[1]] + (drawn[0], *names[drawn[0]])[drawn[1]]))
    )


def _walk(day: date, step: int, wanted: Callable[[date], bool]) -> date:
    """Return the first wanted day in one direction, day by day: the slow reference."""
    while not wanted(day):
        day += timedelta(step)
    return day


def _whole_month(day: date) -> tuple[date, date]:
    first = _walk(day, -1, lambda one: one.day == 1)
    return first, _walk(day, 1, lambda one: (one + timedelta(1)).day == 1)


@given(
    _forms(LATEST, MONTHS, ("", "im ", "en ", "en ", "", "")),
    _forms(LAST, MONTHS, ("",) * 4),
    _forms(NEXT, MONTHS, ("",) * 4),
    MOMENTS,
)
def test_months_are_those_of_the_calendar(
    latest: tuple[str, str], last: tuple[str, str], following: tuple[str, str], now: datetime
) -> None:
    """A month that has begun is the latest; the last one is over, and the next one has not begun."""
    begin, end = _whole_month(now.date())
    first = (latest[0], latest[1].replace(" on ", " in "))
    starts = ((first, end, -1), (last, begin - timedelta(1), -1), (following, end + timedelta(1), 1))
    for (name, question), start, step in starts:
        expected = _walk(start, step, lambda one, name=name: f"{one:%B}" == name)  # type: ignore[misc]
        assert span_of(question, now) == _whole_month(expected), question


@pytest.mark.parametrize("question", ["What did I bake last week?", "Was habe ich letzte Woche gebacken (bake)?"])
def test_memories_of_that_time_come_before_others_of_the_same_topic(question: str) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        for weeks in range(160):
            at = NOW - timedelta(weeks=weeks)
            memory.add(f"I did bake bread number {weeks}.", timestamp=at)
        memory.add("I did bake a cake.")
        (first, *_) = memory.recall(question, now=NOW, top_n=1)
        assert first.content == "I did bake bread number 1."
        (later, *_) = memory.recall(question, now=NOW - timedelta(weeks=20), top_n=1)
        assert later.content == "I did bake bread number 21."


@given(
    st.lists(
        st.sampled_from(
            [word for row in time_spans._WORDS for word in "|".join(row[2:]).split("|") if word.isalpha()]
            + ["an", "the", "in", "2019", "3", "12", "2021年", "3月", "the", "de", "l'an", "un an", "what", "word7"]
        ),
        max_size=5,
    ).map(" ".join)
)
def test_the_quick_look_for_a_day_misses_none(question: str) -> None:
    if not time_spans._NAMES_DAY.search(question):
        assert time_spans._span(time_spans._tokens(question), NOW.date(), TENSE, years=True) is None


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_a_question_about_days_reads_few_whole_memories(tmp_path: Path, storage: str) -> None:
    decoded = list[MemoryNode]()
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", storage=storage, save_dir=str(tmp_path))) as memory:
        for n in range(60):
            moment = (NOW - timedelta(days=n)).astimezone(timezone(timedelta(hours=n % 5)))
            memory.add(f"I walked {n} miles" + " on 3 May 2026" * (n % 2), timestamp=moment)
        reader = memory.store.reader()
        rows = reader.view.known_rows([one.id for one in memory.store.all_nodes()])
        assert reader.said(rows) == dict(zip(rows.tolist(), map(said_of, reader.nodes(rows)), strict=True))

        read = Reader.nodes

        def watched(self: Reader, rows: Rows) -> list[MemoryNode]:
            found = read(self, rows)
            decoded.extend(found)
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Reader, "nodes", watched)
            found = memory.recall("How far did I walk last week?", now=NOW, top_n=3)
    assert len(found) == 3
    assert len(decoded) < 30
