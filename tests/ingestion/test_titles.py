"""Titles and other names that texts give themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.ingestion.titles import find_names, find_title

BODY = "It stands at the harbour, and it has done so since 1820.\n"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"The Long Mole\n{BODY}", "The Long Mole"),
        (f"The Long Mole\n\n{BODY}", "The Long Mole"),
        (f"\n  The Long Mole\n{BODY}", "The Long Mole"),
        (f"Washington, D.C.\n{BODY}", "Washington, D.C."),
        (f"# The Long Mole\n{BODY}", "The Long Mole"),
        (f"### The Long Mole ###\n\n{BODY}", "The Long Mole"),
        (f"**The Long Mole**\n{BODY}", "The Long Mole"),
        (f"the long mole\n=============\n{BODY}", None),
        (f"The long mole\n-------------\n{BODY}", "The long mole"),
        (f"Title: The Long Mole\n{BODY}", "The Long Mole"),
        (f"Titel: Die lange Mole\n\n{BODY}", "Die lange Mole"),
        (f"From: ada@example.org\nTo: bo@example.org\nSubject: Re: AW: The Long Mole\n\n{BODY}", "The Long Mole"),
        (f"Betreff: WG: Die lange Mole\n\n{BODY}", "Die lange Mole"),
        (f'---\nauthor: Ada\ntitle: "The Long Mole"\n---\n{BODY}', "The Long Mole"),
        ("主题：会议记录\n我们今天讨论了预算。", "会议记录"),
        ("港口的防波堤\n港口的防波堤建于一八二零年，至今仍在使用。", "港口的防波堤"),
    ],
)
def test_a_header_or_a_heading_is_the_title(text: str, title: str | None) -> None:
    assert find_title(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "The Long Mole",
        "Hi Bo,\n\nplease call me back.",
        "Thanks!\n\nI will do so tomorrow.",
        "milk\neggs\nbread and a very long loaf of it",
        "- Buy milk\n- Buy a lot of eggs and bread",
        "1. Buy milk\n2. Buy a lot of eggs and bread",
        "This text was wrapped by hand after a few words so\nthat its first line is no heading at all.",
        "What shall we do?\nI do not know, but we have to do it soon.",
        "def find(text):\n    return text.strip().splitlines()[0]",
        "> The Long Mole\nThat is what he wrote about in his letter.",
        "| a | b |\n|---|---|\n| 1 | 2, and some more of it |",
        "http://example.org/mole\nThat is the page which I meant yesterday.",
        "Note: call Bo\nHe has to know about the mole and the harbour.",
        "We met at noon and talked about nothing in particular.",
        "I am planning a trip.",
        "Got it! Just let me know what you need.",
        "Absolutely, that is a great idea.",
        "When PAM is used to encrypt passwords, nothing else is needed.",
        "Using Quill's essay as a start is a great way to begin.",
        "John, can you send me the file of the meeting?",
        "Swedish music has charm, and many Swedish bands tour.",
        "Wir haben gestern den Vertrag unterschrieben.",
        "Der Hund ist krank und will nicht fressen.",
        "Manchmal ist die installierte Version aktueller als die andere.",
        "Zeigt Details über Pakete an, wie diese in der Liste stehen.",
        "El perro está enfermo y no quiere comer.",
        "我是一个学生。",
        "你是一名哲学家吗？",
        "可能我母亲是一个上海人的原因。",
    ],
)
def test_a_line_that_begins_no_text_is_no_title(text: str) -> None:
    assert find_title(text) is None


pieces = st.sampled_from([*"aA .,:#\n(\"'*-=1北是一的", " is a ", "Title: ", "Ada Quill", "Die ", " ist ein "])
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts)
def test_a_found_title_is_in_the_text_and_is_found_again(text: str) -> None:
    names = find_names(text)
    assert names == find_names(text)
    if names:
        assert names[0] in text
        assert names[0] == find_title(text) == names[0].strip()
        assert re.search(r"[^\W\d_]", names[0])
    assert len(set(names)) == len(names)
