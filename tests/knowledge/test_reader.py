"""What is read from ordinary sentences."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.claims import USER, Change, Claim, Slot
from neurogated.knowledge.read import OfflineClaimReader, attribute_named


class SaidReader(OfflineClaimReader):
    """Reads what texts say, and not what they take for granted."""

    def read(self, text: str, said: datetime | None = None, speaker: str | None = None) -> tuple[Claim, ...]:
        """Return the claims."""
        return tuple(claim for claim in super().read(text, said, speaker) if not claim.is_implied)


READER = SaidReader()
SAID = datetime(2026, 11, 24, 12, tzinfo=UTC)
STATEMENTS = {
    "en": [
        ("I live in Ghent", "home", "Ghent"),
        ("I'm allergic to peanuts", "allergy", "peanuts"),
        ("My boss is called Martin", "manager", "Martin"),
        ("I work as a nurse", "job", "nurse"),
        ("My birthday is on 2 June", "birthday", "2 June"),
        ("I don't eat meat", "food", "meat"),
        ("I no longer work at Siemens", "employer", "Siemens"),
        ("My favourite colour is green", "favourite colour", "green"),
        ("I weigh 70 kg", "weight", "70 kg"),
        ("My phone number is 555-1234", "phone_number", "555-1234"),
    ],
    "zh": [
        ("我住在根特", "home", "根特"),
        ("我对花生过敏", "allergy", "花生"),
        ("我是一名护士", "job", "护士"),
        ("我不吃牛肉", "food", "牛肉"),
        ("我老板是王总", "manager", "王总"),
    ],
}
WRAPPINGS = {
    "en": (
        "{}.",
        "Hi, just so you know, {}!",
        "By the way, {} lol",
        "{}, thanks!",
        "{}. The weather is fine.",
        "Well. {} :)",
        "({}.)",
        "I don't know if that helps, but {}.",
    ),
    "zh": ("{}。", "对了，{}！", "你好，{}。", "{}，谢谢。", "今天真冷。{}。", "\uff08{}。\uff09"),
}


def said(text: str) -> Claim:
    [claim] = READER.read(text, SAID)
    return claim


def meanings(text: str) -> list[tuple[object, ...]]:
    return [(c.slot, c.value, c.is_denied, c.change, c.is_past) for c in READER.read(text, SAID)]


@pytest.mark.parametrize(("text", "attribute", "value"), [each for own in STATEMENTS.values() for each in own])
def test_a_statement_of_the_user_is_one_claim(text: str, attribute: str, value: str) -> None:
    assert (said(text).slot, said(text).value) == (Slot(USER, attribute), value)


@given(st.sampled_from(sorted(WRAPPINGS)), st.data())
def test_words_around_a_statement_do_not_change_what_is_read(language: str, data: st.DataObject) -> None:
    text, _, _ = data.draw(st.sampled_from(STATEMENTS[language]))
    wrapping = data.draw(st.sampled_from(WRAPPINGS[language]))
    begin = text if text.startswith("I") or not wrapping[:1].isalpha() else text[:1].lower() + text[1:]
    assert meanings(wrapping.format(begin)) == meanings(text)


@given(
    st.lists(
        st.sampled_from(["en", "zh"]).flatmap(lambda own: st.sampled_from(STATEMENTS[own])), max_size=4, unique=True
    )
)
def test_a_text_says_what_its_sentences_say(statements: list[tuple[str, str, str]]) -> None:
    text = " ".join(f"{text}." if text.isascii() else f"{text}。" for text, _, _ in statements)
    assert [value for _, value, *_ in meanings(text)] == [value for _, _, value in statements]


WORDS = st.sampled_from(
    ["I", "my", "am", "is", "the", "not", "'s", ",", "live", "in", "3", "May", "?", "我", "在", "的"]
)


@given(st.text(max_size=80) | st.lists(WORDS).map(" ".join))
def test_any_text_can_be_read_and_asked(text: str) -> None:
    assert all(claim.value and claim.slot.subject for claim in READER.read(text, SAID))
    READER.asked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Ghent?",
        "If I lived in Ghent, I would be happy.",
        "I wish I lived in Ghent.",
        "My boss says that I live in Ghent.",
        "I am thinking of moving to Ghent.",
        "We're moving to Ghent in May.",
        'He asked: "Do you know that I live in Ghent?"',
        "I live in Ghent. Just kidding!",
        "如果我住在根特就好了。",
        "我想搬到根特。",
    ],
)
def test_what_is_asked_supposed_planned_or_said_by_others_is_no_claim_of_a_home(text: str) -> None:
    assert not [claim for claim in READER.read(text, SAID) if claim.slot.attribute == "home"]


def test_each_clause_is_read_with_its_subject() -> None:
    claims = READER.read("I live in Ghent and work at Physio Plus, but my sister Anna lives in Leeds.", SAID)
    assert [(claim.slot, claim.value) for claim in claims] == [
        (Slot(USER, "home"), "Ghent"),
        (Slot(USER, "employer"), "Physio Plus"),
        (Slot("Anna", "home"), "Leeds"),
        (Slot(USER, "sibling"), "Anna"),
    ]


@pytest.mark.parametrize(
    "text",
    ["I no longer live in Ghent.", "I don't live in Ghent any more.", "I've left Ghent for good.", "我不住在根特了。"],
)
def test_what_ends_is_denied(text: str) -> None:
    assert (said(text).is_denied, said(text).change) == (True, Change.ENDS)


@pytest.mark.parametrize(
    "text", ["I live in Ghent now!", "Since June I live in Ghent.", "I moved to Ghent.", "我刚搬到根特。"]
)
def test_what_begins_is_a_change(text: str) -> None:
    assert (said(text).is_denied, said(text).change, said(text).is_past) == (False, Change.BEGINS, False)


@pytest.mark.parametrize("text", ["I used to live in Ghent.", "I lived in Ghent.", "我以前住在根特。"])
def test_what_was_so_before_is_past(text: str) -> None:
    assert (said(text).is_past, said(text).change) == (True, None)


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("Kim lived in Seoul from 2015 to 2018.", 2015, 2018),
        ("Since 2018 Kim lives in Seoul.", 2018, None),
        ("Kim lived in Seoul until 2018.", None, 2018),
        ("Starting 2018, Kim lives in Seoul.", 2018, None),
    ],
)
def test_words_tell_when_something_holds(text: str, begin: int | None, end: int | None) -> None:
    claim = said(text)
    assert (claim.valid_from and claim.valid_from.year, claim.valid_to and claim.valid_to.year) == (begin, end)


@pytest.mark.parametrize(
    ("question", "slot", "is_past"),
    [
        ("Where do I live?", Slot(USER, "home"), False),
        ("Where did I live before?", Slot(USER, "home"), True),
        ("What is my favourite colour?", Slot(USER, "favourite colour"), False),
        ("What's my sister's name?", Slot("sister", "name"), False),
        ("我以前住在哪里？", Slot(USER, "home"), True),
    ],
)
def test_a_question_names_its_slot_and_whether_it_asks_for_the_past(question: str, slot: Slot, is_past: bool) -> None:  # noqa: FBT001 - a case
    asked = READER.asked(question)
    assert asked is not None
    assert (slot in asked.slots, asked.is_past) == (True, is_past)


def test_words_of_a_triple_name_the_attribute_of_sentences() -> None:
    assert attribute_named("lives in").key == "home"
    assert attribute_named("is enrolled in") == attribute_named("enrolled in")
    assert (attribute_named("gpa is").is_single, attribute_named("supplies").is_single) == (True, False)
