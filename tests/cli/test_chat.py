"""`chat`: a conversation with a memory in the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main

ROOT = Path(__file__).parents[2]

Chat = Callable[..., str]


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Chat:
    """Return a function that types lines into `chat` and returns the printed text."""

    def typed(*lines: str, flags: tuple[str, ...] = (), folder: Path | None = tmp_path) -> str:
        waiting = iter(lines)

        def read(prompt: str) -> str:
            assert prompt
            try:
                return next(waiting)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", read)
        words = ["--embedding_name", "hash", "--dataset_dir", str(ROOT / "dataset")]
        words += [] if folder is None else ["--save_dir", str(folder)]
        assert main(["chat", *words, *flags]) == 0
        return capsys.readouterr().out

    return typed


def test_it_talks_about_the_sample_where_nobody_names_a_memory(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = chat("Why did the herring fail?", folder=None)
    assert "herring" in out
    assert re.search(r"^   score \d\.\d\d$", out, re.MULTILINE)
    assert "kernel: why question" in out
    assert "memories. " in chat("/quit", "never read", folder=None)


def test_an_added_text_is_remembered_the_next_time(chat: Chat) -> None:
    flags = ("--dataset", "mine", "--user_id", "ana")
    assert "remembered as chunk-" in chat("/add The heron stands by the upper gate.", flags=flags)
    assert " The heron stands by the upper gate.\n   score" in chat("Where is the heron?", flags=flags)
    assert "nothing comes to mind" in chat("Where is the heron?", flags=("--dataset", "mine", "--user_id", "bob"))


def test_feedback_is_for_the_last_answer(chat: Chat) -> None:
    out = chat("/good", "/add The pump failed.", "/add The field is dry.", "Which pump failed?", "/good", "/bad",
               flags=("--user_id", "ana"))  # fmt: skip
    assert "/quit" in out
    assert re.search(r"^[1-9] edges? made stronger$", out, re.MULTILINE)
    assert re.search(r"^[1-9] edges? made weaker$", out, re.MULTILINE)


ANA = ("--user_id", "ana")


def _contents(folder: Path) -> list[tuple[str | None, str]]:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        return [(one.role, one.content) for one in memory.list(user_id="ana")]


def _at_odds(folder: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        for city in ("Leeds", "York"):
            memory.facts.add("user", "home", city, user_id="ana")


def test_commands_and_bare_replies_are_no_memories(chat: Chat, tmp_path: Path) -> None:
    words = ("/help", "/undo", "/forget", "/why", "/facts", "/answer 1", "/good", "/nonsense")
    out = chat(*words, "yes", "No.", "Ja!", "好的", flags=ANA)
    assert out.count("error: ") == 1
    assert "error: there is no command /nonsense.\nTell it something" in out
    assert out.count("not remembered") == 4
    assert "error: /good takes nothing after it" in chat("/good 1", flags=ANA)
    assert _contents(tmp_path) == []


def test_each_question_is_told_not_to_be_remembered_and_the_first_how_it_would_be(chat: Chat) -> None:
    out = chat("Who keeps bees?", "Can you remember that my dentist is Dr. Lee?", flags=ANA)
    assert out.count("/add TEXT remembers") == 1
    assert out.count("a question is not remembered") == 2


def test_one_memory_of_the_last_answer_is_explained_by_its_number(chat: Chat) -> None:
    flags = ("--user_id", "ana", "--plain")
    chat("/add The pump failed.", "/add The pump is red.", flags=flags)
    out = chat("Which pump failed?", "/why 2", "/why 3", "/why me", flags=flags)
    assert re.findall(r"^(\d)\. score .*  id chunk-", out, re.MULTILINE) == ["2"]
    assert out.count("error: /why takes a number from 1 to 2") == 2
    assert "error: the last answer has no memories" in chat("/why 1", flags=flags)


def test_only_what_this_chat_has_changed_is_taken_back(chat: Chat, tmp_path: Path) -> None:
    chat("I keep bees.", flags=ANA)
    nothing = "this chat has changed nothing that could be taken back"
    assert nothing in chat("/forget", "/undo", "/forget 1", "/undo", "Who keeps bees?", "/forget 2", "/undo", flags=ANA)
    assert _contents(tmp_path) == [("user", "I keep bees.")]
    out = chat("I keep hens.", "/undo", "/forget", "/undo", flags=ANA)
    assert "taken back: “I keep hens.”" in out
    assert nothing in out
    out = chat("Who keeps bees?", "/forget 1", "/forget 1", "/undo", "/undo", "/forget " + "9" * 5_000, flags=ANA)
    assert "it is gone already" in out
    assert "taken back: a deletion; written again: “I keep bees.”" in out
    assert nothing in out
    assert _contents(tmp_path) == [("user", "I keep bees.")]


def test_a_memory_is_forgotten_by_its_number_or_right_after_it_was_told(chat: Chat, tmp_path: Path) -> None:
    lines = (
        "I keep bees.",
        "I keep hens.",
        "/forget",
        "Who keeps bees?",
        "/forget 2",
        "/forget 1",
        "/undo",
        "/forget 1",
    )
    out = chat(*lines, flags=ANA)
    assert out.count("1 memory deleted; /undo takes it back") == 3
    assert "/forget takes a number from 1 to 1" in out
    assert _contents(tmp_path) == []


def test_a_contradiction_is_asked_about_once_and_answered(chat: Chat, tmp_path: Path) -> None:
    _at_odds(tmp_path)
    question = "What is the home of the user?"
    out = chat(question, question, "/answer neither", "/answer 2", "/answer 1", question, "/undo", "/facts", flags=ANA)
    assert out.count("Which of them is right?") == 1
    assert "/answer is 'neither', but must be 1, 2, both or changed" in out
    assert "the other is wrong; /undo takes it back" in out
    assert "I have asked nothing about a contradiction" in out
