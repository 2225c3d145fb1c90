"""The page of conflicts: both sides, the effect of each answer, its command, and no word of another user."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from neurogated import (
    ANY_USER,
    NeuroGraphMemory,
)
from neurogated.viewer import explain_conflicts
from tests.viewer.conftest import HOSTILE, oppose

if TYPE_CHECKING:
    from tests.viewer.conftest import PageReader

    Read = Callable[[str], PageReader]


def lives(memory: NeuroGraphMemory, city: str, year: int, user_id: str | None = "ana") -> str:
    return memory.facts.add("Ana", "city", city, user_id=user_id, valid_from=datetime(year, 1, 1, tzinfo=UTC))


def commands(page: PageReader) -> list[str]:
    """Return the commands as a reader copies them."""
    source = "".join(page.text)
    return re.findall(r"^(?:neurogated resolve|memory\.resolve).*$", source, flags=re.MULTILINE)


def test_the_page_shows_both_sides_and_the_effect_of_each_answer(memory: NeuroGraphMemory, read: Read) -> None:
    lyon, paris = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    (conflict,) = memory.conflicts.list("resolved", user_id="ana")
    page = read(explain_conflicts(memory, user_id="ana"))
    for words in (
        "0 open, 1 resolved · memories of ana", conflict.question, conflict.reason, "supersession", "confidence 95 %",
        "Ana city: Lyon", "Ana city: Paris", lyon, paris, "valid from 2020-01-01 until 2022-01-01",
        "Only the first is right The second was never true.", "Only the second is right The first was never true.",
        "Both are right Both memories stand.", "It changed present outcome The first was true until the second began.",
        "second wrong before from 2022-01-01 after at no time",
        "first before from 2020-01-01 until 2022-01-01 after from 2020-01-01",
    ):  # fmt: skip
        assert words in page.all_text
    assert len(page.tags("mark")) == 2
    assert [line.split("--keep=")[1].split()[0] for line in commands(page)] == [lyon, paris, "both", "supersede"]


def test_a_page_of_one_user_has_no_word_of_another(memory: NeuroGraphMemory, read: Read) -> None:
    for user_id, cities in (("ana", ("Lyon", "Paris")), ("bob", ("Oslo", "Bergen")), (None, ("Rome", "Turin"))):
        for city in cities:
            lives(memory, city, 2022, user_id)
    everyone = {"Lyon", "Paris", "Oslo", "Bergen", "Rome", "Turin"}
    for choice, wanted in (
        ("ana", {"Lyon", "Paris", "Rome", "Turin"}),
        ("bob", {"Oslo", "Bergen", "Rome", "Turin"}),
        ("eve", {"Rome", "Turin"}),
        (None, {"Rome", "Turin"}),
        (ANY_USER, everyone),
    ):
        text = read(explain_conflicts(memory, user_id=choice)).all_text
        assert {city for city in everyone if city in text} == wanted
        assert {name for name in ("ana", "bob") if f"user {name}" in text} == (
            {"ana", "bob"} if choice is ANY_USER else {choice} & {"ana", "bob"}
        )


def test_no_text_breaks_out_of_the_page_or_of_a_command(memory: NeuroGraphMemory, read: Read) -> None:
    hostile = HOSTILE.replace("\x00", "\x1b")
    names = (f"-x'; rm -rf ~ #{hostile}", "$(reboot) `reboot`\n")
    made = oppose(memory, hostile, f"{hostile} I have dogs.", user_id=hostile, ids=names)
    memory.conflicts.resolve(made.id, "both", because=hostile)
    source = explain_conflicts(memory, user_id=hostile)
    page = read(source)
    assert not page.tags("img")
    assert not page.tags("script")
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in page.all_text
    assert "\x1b" not in source
    shown = re.findall(r"neurogated resolve (?:.|\n)*?--embedding_name=hash", "".join(page.text))
    assert len(shown) == 4
    for line, keep in zip(shown, (*names, "both", "supersede"), strict=True):
        words = shlex.split(line)
        assert words[:3] == ["neurogated", "resolve", made.id]
        assert words[3] == f"--keep={keep}".replace("\x1b", "\ufffd")
        assert len(words) == 6
