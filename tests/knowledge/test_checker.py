"""Conflicts between messages of one person, and how recalls show them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from neurogated import ANY_USER, Conflict, MemoryConfig, NeuroGraphMemory

START = datetime(2024, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def said(memory: NeuroGraphMemory, text: str, day: int = 0, **message: str) -> str:
    content = {"role": "user", "content": text, "timestamp": START + day * DAY, **message}
    return memory.add(content, user_id="ana", session_id=f"day {day}")[0]


def found(memory: NeuroGraphMemory) -> list[Conflict]:
    return memory.conflicts.list(None, user_id=ANY_USER)


CONTRADICTIONS = [
    ("I live in Leeds.", "I live in York.", "right?"),
    ("Ich wohne in Berlin und ich arbeite dort.", "Ich war noch nie in Berlin.", "Was davon stimmt?"),
    ("Mia is allergic to nuts.", "Mia is not allergic to nuts.", "right?"),
    ("I met Kelly at the library last spring, and she was kind.", "I have never met Kelly at the library.", "right?"),
    ("我去年去过北京。", "我从来没有去过北京。", "哪一个是对的"),
    ("My budget for books is 35 dollars.", "I increased my budget for books to 50 dollars.", "Has this changed?"),
]


@pytest.mark.parametrize(("first", "second", "asked"), CONTRADICTIONS)
def test_what_a_person_contradicts_is_asked_in_her_language(
    memory: NeuroGraphMemory, first: str, second: str, asked: str
) -> None:
    sides = said(memory, first), said(memory, second)
    (conflict,) = found(memory)
    assert (conflict.sides, conflict.status, conflict.loser) == (sides, "open", None)
    assert asked in conflict.question


NONE = [
    ("I live in Leeds.", "Do I live in York?"),
    ("I live in Leeds.", "My sister lives in York."),
    ("I live in Leeds.", "If I moved, I would live in York."),
    ("I would like to meet Kelly at the library.", "I have never met Kelly at the library."),
    ("It's great to hear that.", "It's sad to hear that."),
    ("I have never been to Rome.", "I have never been to Rome in my life."),
    ("I like tea.", "I like coffee."),
    ("My rent is 800 euros.", "My rent is 800 euros now."),
]


@pytest.mark.parametrize(("first", "second"), NONE)
def test_questions_wishes_and_repetitions_are_no_conflict(memory: NeuroGraphMemory, first: str, second: str) -> None:
    said(memory, first)
    said(memory, second)
    assert found(memory) == []


def test_other_speakers_and_assistants_contradict_nobody(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds.", name="Ana")
    said(memory, "I live in York.", name="Ben")
    said(memory, "I live in Oslo.", role="assistant")
    assert found(memory) == []


def test_a_change_supersedes_a_memory_that_says_nothing_else(memory: NeuroGraphMemory) -> None:
    lone = said(memory, "I work at Google.")
    said(memory, "I no longer work at Google.", 40)
    (conflict,) = found(memory)
    assert (conflict.outcome, conflict.loser) == ("superseded", lone)
    assert memory.get(lone).valid_to == START + 40 * DAY


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Leeds and I work as a nurse.", "I no longer work as a nurse."),
        ("I live in Leeds and work as a nurse.", "I no longer work as a nurse."),
        ("Ich wohne in Ulm und arbeite als Lehrer.", "Ich arbeite nicht mehr als Lehrer."),
        ("Vivo en Lima y trabajo de médico.", "Ya no trabajo de médico."),
    ],
)
def test_a_change_of_one_part_of_a_sentence_ends_nothing(memory: NeuroGraphMemory, old: str, new: str) -> None:
    first = said(memory, old)
    said(memory, new, 40)
    assert memory.get(first).valid_to is None
    assert all(one.status == "open" for one in found(memory))


def test_a_recall_ranks_the_present_first_unless_the_past_is_asked_for() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        old = memory.facts.add("Ana", "city", "Lyon", valid_from=START)
        new = memory.facts.add("Ana", "city", "Paris", valid_from=START + 400 * DAY)
        question = "Is Lyon the city of Ana?"
        assert memory.recall(question).ids == (new, old)
        assert memory.recall(question, top_n=1).ids == (new,)
        assert memory.recall("Was Lyon the city of Ana before?").ids == (old, new)
        for year, ids in ((2024, (old, new)), (2026, (new, old))):
            assert memory.recall(f"Was Lyon the city of Ana in May {year}?").ids == ids
        assert memory.recall(question, valid_at=START + DAY).ids == (old,)
        assert memory.recall(question, as_of=1).conflicts == ()
        recall = memory.recall(question)
        assert [one.instruction for one in recall.conflicts] == ["restructure"]
        assert recall.as_text().count('state="superseded"') == 1
        scores = [one.score for one in recall]
        assert scores == sorted(scores, reverse=True)
        assert all(sum(one.contributions.values()) == pytest.approx(one.score) for one in recall)


def test_what_replaced_a_memory_holds_from_then_on(memory: NeuroGraphMemory) -> None:
    old, new = said(memory, "I live in Leeds."), said(memory, "I live in York now.", 30)
    (conflict,) = found(memory)
    assert conflict.outcome == "superseded"
    for day, ids in ((1, {old}), (29, {old}), (31, {new})):
        assert set(memory.recall("Where do I live?", user_id="ana", valid_at=START + day * DAY).ids) == ids
    memory.conflicts.resolve(conflict.id, "both")
    assert set(memory.recall("Where do I live?", user_id="ana", valid_at=START + DAY).ids) == {old, new}
    memory.conflicts.resolve(conflict.id, "supersede")
    assert memory.get(new).valid_from == START + 30 * DAY
    memory.delete(old)
    assert memory.get(new).valid_from is None


@pytest.mark.parametrize("keep", ["both", "supersede", "the new one"])
def test_a_dispute_that_was_answered_is_not_asked_again(memory: NeuroGraphMemory, keep: str) -> None:
    said(memory, "I live in Leeds.")
    new = said(memory, "I live in York.", 3)
    (conflict,) = found(memory)
    memory.conflicts.resolve(conflict.id, new if keep == "the new one" else keep)
    again = said(memory, "I live in York.", 6)
    assert memory.duplicates.of(again)
    assert len(found(memory)) == 1
    # A side that lost and is said again is news.
    said(memory, "I live in Leeds.", 9)
    assert (len(memory.conflicts.list("open", user_id="ana")) > 0) == (keep != "both")


def test_a_recall_says_what_is_contested(memory: NeuroGraphMemory) -> None:
    sides = said(memory, "I live in Leeds."), said(memory, "I live in York.")
    recall = memory.recall("Where do I live? Leeds?", user_id="ana", top_n=1)
    (conflict,) = recall.conflicts
    assert (conflict.sides, conflict.instruction) == (sides, "confirm")
    assert 'state="contested"' in recall.as_text()
    memory.conflicts.resolve(conflict.id, "both")
    assert memory.recall("Where do I live? Leeds?", user_id="ana").conflicts == ()


def test_the_next_messages_of_the_session_are_offered_as_evidence(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds.")
    second = said(memory, "I live in York.")
    said(memory, "Which of them is right, Leeds or York?", role="assistant")
    said(memory, "It rains today.")
    answer = said(memory, "York, I moved there in May.")
    said(memory, "York is lovely.", 3)
    memory.add({"role": "user", "content": "Leeds is my home."}, user_id="ben", session_id="day 0")
    (conflict,) = memory.conflicts.list(user_id="ana")
    assert conflict.evidence == (answer,)
    assert memory.get(second).valid_to is None
    resolved = memory.conflicts.resolve(conflict.id, second, because=conflict.evidence[0])
    assert (resolved.because, resolved.loser) == (answer, conflict.first)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Hamburg.", "I live in Oslo now."),
        ("I work at Siemens.", "Now I work at Bosch."),
        ("Ich wohne in Hamburg.", "Ich wohne jetzt in Oslo."),
        ("J'habite à Hambourg.", "J'habite maintenant à Oslo."),
        ("Vivo en Hamburgo.", "Ahora vivo en Oslo."),
        ("我住在汉堡。", "我现在住在奥斯陆。"),
    ],
)
def test_two_values_of_one_attribute_need_no_similar_vectors(memory: NeuroGraphMemory, old: str, new: str) -> None:
    for text in (old, "I like tea.", new):
        memory.add(text, user_id="ana")
    (conflict,) = memory.conflicts.list(None, user_id="ana")
    assert conflict.kind.value == "supersession"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in York.", "I used to live in Rome."),
        ("I don't smoke.", "I used to smoke."),
        ("My rent is 900 euros.", "My rent was previously 700 euros."),
        ("Mi jefe es Lee.", "Antes mi jefe era Kim."),
        ("Mon chef est Lee.", "Autrefois mon chef était Kim."),
        ("我的老板是李明。", "我的老板以前是王伟。"),
        ("I work at Bosch.", "I now also work at Siemens."),
        ("My email is ana@x.org.", "My work email is now ana@firm.com."),
        ("I ran 5 km today.", "I ran 10 km today."),
        ("Mi hijo se llama Hugo.", "Mi hija se llama Vega."),
        ("My son is 5 years old.", "My daughter is 7 years old."),
    ],
)
def test_remarks_on_the_past_on_other_days_and_on_other_things_are_no_conflict(
    memory: NeuroGraphMemory, first: str, second: str
) -> None:
    said(memory, first)
    said(memory, second, 40)
    assert found(memory) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My daughter is called Mia.", "My new daughter is called Lea."),
        ("Mein Hund heißt Rex.", "Mein neuer Hund heißt Max."),
        ("My boss is Tom.", "My new boss is Kim."),
    ],
)
def test_a_new_thing_may_be_one_of_several_so_the_user_is_asked(
    memory: NeuroGraphMemory, first: str, second: str
) -> None:
    old = said(memory, first)
    said(memory, second, 40)
    assert [one.status for one in found(memory)] == ["open"]
    assert memory.get(old).valid_to is None


def test_a_message_that_arrives_late_is_compared_with_later_ones(memory: NeuroGraphMemory) -> None:
    later = said(memory, "I live in York now.", 40)
    earlier = said(memory, "I live in Leeds.")
    (conflict,) = found(memory)
    assert (conflict.loser, conflict.other(earlier)) == (earlier, later)
    assert memory.get(earlier).valid_to == START + 40 * DAY


def test_documents_contradict_no_others(memory: NeuroGraphMemory) -> None:
    for title, place in (("A novel", "Leeds"), ("A letter", "York")):
        memory.add(f"I live in {place}.", user_id="ana", title=title)
    assert found(memory) == []


def test_a_memory_of_one_project_ends_none_of_another_and_repeats_none(memory: NeuroGraphMemory) -> None:
    told = {"A": ("Our door is blue.", "I live in Leeds."), "B": ("Our door is blue.", "I live in York now.")}
    ids = [memory.add(list(texts), user_id="ana", path=[path]) for path, texts in told.items()]
    assert memory.duplicates.of(ids[1][0]) == []
    assert [one.status for one in found(memory)] == ["open"]
    assert memory.get(ids[0][1]).valid_to is None
