"""When things were said: stamps of messages, days in the zone of the user, and one end of a lifetime."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Unpack
from zoneinfo import ZoneInfo

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import MemoryConfig, NeuroGraphMemory, import_memory
from neurogated.errors import InputError, UnknownIdError
from neurogated.ingestion.contents import Content
from neurogated.ingestion.document import Details
from neurogated.session import compose
from neurogated.testing import ManualClock
from neurogated.text.time_spans import Span, span_of, spans_in, times_of

CONFIG = MemoryConfig(embedding_name="hash", storage="memory")
ZONES = ("America/Los_Angeles", "America/Sao_Paulo", "UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Tokyo")
SAID = {"role": "user", "content": "I repaired the bike."}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 11, 11, 12, tzinfo=UTC))


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(CONFIG, parts=compose.build(CONFIG, clock)) as opened:
        yield opened


def stamp_of(memory: NeuroGraphMemory, content: Content, **details: Unpack[Details]) -> datetime | None:
    (node_id,) = memory.add(content, **details)
    return memory.get(node_id).timestamp


def test_a_message_has_the_time_at_which_it_arrives_and_a_document_has_none(
    memory: NeuroGraphMemory, clock: ManualClock
) -> None:
    assert stamp_of(memory, SAID) == clock()
    assert stamp_of(memory, "A turn.", session_id="s") == clock()
    assert stamp_of(memory, "A document.") is None
    assert stamp_of(memory, "A note.", timestamp="now") == clock()
    assert stamp_of(memory, {**SAID, "timestamp": "2026-03-01T10:00:00+00:00"}) == datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_a_message_that_is_added_again_stays_one_memory_with_its_first_time(
    memory: NeuroGraphMemory, clock: ManualClock
) -> None:
    begin = clock()
    first = memory.add(SAID, user_id="ana")
    named = memory.add({**SAID, "id": "m1"}, session_id="s")
    clock.advance(timedelta(days=1))
    sequence = memory.view().sequence
    assert memory.add(SAID, user_id="ana") == first
    assert memory.add({**SAID, "id": "m1"}, session_id="s") == named
    assert memory.view().sequence == sequence
    assert {memory.get(name).timestamp for name in (*first, *named)} == {begin}
    memory.add({**SAID, "id": "m1", "content": "I repaired the lamp."}, session_id="s")
    assert memory.get("m1").timestamp == begin


@pytest.mark.parametrize("key", ["created_at", "time", "date"])
@pytest.mark.parametrize(
    "value", ["2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC), 1772359200, 1772359200.0, 1772359200000]
)
def test_a_time_of_a_known_shape_is_that_of_a_message(memory: NeuroGraphMemory, key: str, value: object) -> None:
    assert stamp_of(memory, {**SAID, key: value}) == datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_imported_messages_without_a_time_are_not_said_now(memory: NeuroGraphMemory, tmp_path: Path) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps([{"id": "1", "memory": "Likes tea.", "run_id": "r", "user_id": "ana"}]))
    memory.admin.import_from("mem0", file)
    (node,) = memory.find(user_id="ana")
    assert node.timestamp is None


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("hour", range(24))
def test_days_are_those_of_the_zone(zone: str, hour: int) -> None:
    home = ZoneInfo(zone)
    now, day = datetime(2026, 11, 11, hour, 30, tzinfo=home), date(2026, 11, 11)
    wanted = {
        "What did I do today?": Span(day, day),
        "Was tat ich gestern?": Span(day - timedelta(1), day - timedelta(1)),
        "What did I do on Monday?": Span(date(2026, 11, 9), date(2026, 11, 9)),
        "¿Qué hice la semana pasada?": Span(date(2026, 11, 2), date(2026, 11, 8)),
    }
    for question, span in wanted.items():
        assert span_of(question, now.astimezone(UTC).astimezone(home)) == span
        for one in (span.first, span.last):
            assert span.holds(datetime(one.year, one.month, one.day, hour, tzinfo=home), home)
        assert not span.holds(datetime.combine(span.last + timedelta(1), datetime.min.time(), home), home)
        assert not span.holds(datetime.combine(span.first, datetime.min.time(), home) - timedelta(minutes=1), home)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("hour", [1, 8, 20, 23])
def test_a_recall_and_its_texts_follow_the_zone(memory: NeuroGraphMemory, zone: str, hour: int) -> None:
    home = ZoneInfo(zone)
    days = {"bike": 11, "lamp": 10, "sink": 9, "roof": 4}
    for what, day in days.items():
        memory.add(f"I repaired the {what}.", timestamp=datetime(2026, 11, day, hour, tzinfo=home))
    now = datetime(2026, 11, 11, hour, 30, tzinfo=home).astimezone(UTC)
    questions = {"today": "bike", "yesterday": "lamp", "on Monday": "sink", "last week": "roof"}
    for when, what in questions.items():
        recall = memory.recall(f"What did I repair {when}?", now=now, timezone=zone, top_n=4)
        timely = {one.content for one in recall if one.contributions["time"] > 0}
        assert timely == {f"I repaired the {what}."}
        context = memory.get_context("I repaired the bike.", now=now, timezone=zone)
        for text in (recall.as_text(), context.text):
            assert "(11 November 2026): I repaired the bike." in text


@pytest.mark.parametrize(
    "moment", ["2026-11-05T05:00:00+09:00", datetime(2026, 11, 5, 5, tzinfo=ZoneInfo("Asia/Tokyo"))]
)
def test_a_time_keeps_the_zone_in_which_it_is_given_unless_the_reader_names_one(
    tmp_path: Path, moment: datetime | str
) -> None:
    config = MemoryConfig(embedding_name="hash", save_dir=str(tmp_path / "one"))
    with NeuroGraphMemory(config) as memory:
        (name,) = memory.add({**SAID, "timestamp": moment}, user_id="ana")
        memory.add({**SAID, "id": "own", "timestamp": moment}, user_id="bo")
        assert memory.get(name).timestamp == datetime(2026, 11, 4, 20, tzinfo=UTC)
        assert "(5 November 2026)" in memory.get_context("bike", user_id="ana").text
        assert "(4 November 2026)" in memory.recall("bike", user_id="ana", timezone="UTC").as_text()
        asked = memory.recall("What did I repair on 5 November?", user_id="ana", now="2026-11-07T12:00:00Z")
        assert asked[0].contributions["time"] > 0
        memory.update("own", "I painted the bike.")
        memory.admin.export(tmp_path / "out", progress=False)
    config = config.replace(save_dir=str(tmp_path / "two"))
    import_memory(config, tmp_path / "out", progress=False)
    with NeuroGraphMemory(config) as memory:
        for user in ("ana", "bo"):
            assert "(5 November 2026)" in memory.recall("bike", user_id=user).as_text()
        memory.update("own", timestamp="2026-11-05T05:00:00+00:00")
        memory.update(name, timestamp="2026-11-05T20:00:00-09:00")
        assert memory.get(name).found.offset is None


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What happened last week?", "What happened ?"),
        ("Was war am Freitag mit Ana?", "Was war mit Ana?"),
        ("昨天我做了什么？", "我做了什么？"),
        ("What did I do on 4 November?", "What did I do on 4 November?"),
        ("Who led the march to the sea?", "Who led the march to the sea?"),
        ("Yesterday?", "Yesterday?"),
    ],
)
def test_a_question_without_its_relative_words(question: str, rest: str) -> None:
    now = datetime(2026, 11, 12, 10, tzinfo=UTC)
    assert " ".join(times_of(question, now)[1].split()) == rest


def _phrases() -> Iterator[tuple[str, str]]:
    lines = (Path(__file__).parent / "text" / "dates_in_texts.tsv").read_text(encoding="utf-8").splitlines()
    yield from ((text, days) for _, text, days in (line.split("\t") for line in lines))


def test_dates_in_texts_are_read() -> None:
    """The day of the texts is Wednesday, 11 November 2026; a bar parts days of which either is right."""
    wrong = []
    for text, days in _phrases():
        pairs = [one.partition("..") for one in days.split("|") if one != "-"]
        right = {Span(date.fromisoformat(first), date.fromisoformat(last or first)) for first, _, last in pairs}
        found = set(spans_in(text, date(2026, 11, 11)))
        if not found <= right or bool(found) != bool(right):
            wrong.append((text, days, found))
    assert wrong == []


def test_days_are_past_or_to_come_as_their_sentence_says_and_dates_have_their_weekday() -> None:
    """The day of the texts is Saturday, 7 November 2026."""
    wrong = []
    for line in (Path(__file__).parent / "text" / "days_by_tense.tsv").read_text(encoding="utf-8").splitlines():
        days, text = line.split("\t")
        first, _, last = days.partition("..")
        found = spans_in(text, date(2026, 11, 7))
        if found != (Span(date.fromisoformat(first), date.fromisoformat(last or first)),):
            wrong.append((text, days, found))
    assert wrong == []


@given(st.text(), st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_any_text_has_days_or_none(text: str, said: date) -> None:
    assert all(span.first <= span.last for span in spans_in(text, said))


def test_texts_that_name_a_day_of_the_question_are_found(memory: NeuroGraphMemory) -> None:
    for day, content in (
        ("09-16", "We fly to Porto on 17 November."),
        ("11-10", "Dentist on Friday."),
        ("11-04", "Launch."),
    ):
        memory.add({**SAID, "content": content, "timestamp": f"2026-{day}T10:00:00Z"})
    for question, wanted in (
        ("What is coming up next week?", "We fly to Porto on 17 November."),
        ("What's on Friday?", "Dentist on Friday."),
        ("What did I do on 4 November?", "Launch."),
    ):
        recall = memory.recall(question, now="2026-11-11T10:00:00Z", timezone="UTC")
        assert [one.content for one in recall if one.contributions["time"] > 0] == [wanted]


def test_an_expired_memory_is_nowhere(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (by_ttl,) = memory.add("The code is 1234.", ttl=60)
    (by_time,) = memory.add("The code was 4321.", expires_at=clock() + timedelta(minutes=1))
    assert memory.get(by_ttl).expires_at == memory.get(by_time).expires_at
    clock.advance(timedelta(minutes=1))
    assert (memory.count(), list(memory.list()), memory.retrieve("code")) == (0, [], [])
    for name in (by_ttl, by_time):
        with pytest.raises(UnknownIdError):
            memory.get(name)
    with pytest.raises(InputError, match="give one of them"):
        memory.add("x", ttl=1, expires_at=clock())


@pytest.mark.parametrize(
    ("seconds", "moment"),
    [
        (1_700_000_000.5, datetime(2023, 11, 14, 22, 13, 20, 500000, tzinfo=UTC)),
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (-1.0, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_timestamp_may_be_seconds_since_1970(memory: NeuroGraphMemory, seconds: float, moment: datetime) -> None:
    ids = memory.add({"role": "user", "content": "I moved.", "timestamp": seconds}, session_id="s")
    ids += memory.add("I moved back.", timestamp=seconds)
    ids += [memory.facts.add("Ana", "city", "Lyon", timestamp=seconds)]
    ids += memory.record_event("I moved again.", timestamp=seconds)
    assert [memory.get(node_id).timestamp for node_id in ids] == [moment] * len(ids)


def test_a_number_names_a_change_and_no_time_where_a_past_is_asked_for(memory: NeuroGraphMemory) -> None:
    memory.add("I moved.")
    with pytest.raises(InputError, match="as_of"):
        memory.recall("Who moved?", as_of=1_700_000_000.0)


@given(st.datetimes(datetime(2, 1, 1), datetime(9999, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 - zones are drawn
def test_a_text_in_iso_format_is_the_same_time_as_its_datetime(moment: datetime) -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        (one, other) = memory.add(
            [{"role": "user", "content": "I moved.", "timestamp": given} for given in (moment, moment.isoformat())],
            session_id="s",
        )
        assert memory.get(one).timestamp == memory.get(other).timestamp
