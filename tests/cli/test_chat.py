"""`chat`: a conversation with a memory in the terminal."""

from __future__ import annotations

import re
import sys
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

    def typed(*lines: str, flags: tuple[str, ...] = ()) -> str:
        waiting = iter(lines)

        def read(prompt: str) -> str:
            assert prompt
            try:
                return next(waiting)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", read)
        words = ["--save_dir", str(tmp_path), "--embedding_name", "hash", "--dataset_dir", str(ROOT / "dataset")]
        assert main(["chat", *words, *flags]) == 0
        return capsys.readouterr().out

    return typed


def test_it_talks_about_the_sample_where_there_is_no_memory(chat: Chat) -> None:
    out = chat("Why did the herring fail?")
    assert "herring" in out
    assert re.search(r"^   score \d\.\d\d$", out, re.MULTILINE)
    assert "kernel: why question" in out
    assert "memories. " in chat("/quit", "never read")


def test_the_sample_stays_as_it_is(chat: Chat) -> None:
    out = chat("I moved to Lyon.", "Who moved to Lyon?")
    assert "--user_id NAME" in out
    assert "remembered as" not in out
    assert "I moved to Lyon." not in chat("Who moved to Lyon?")


def test_an_added_text_is_remembered_the_next_time(chat: Chat) -> None:
    flags = ("--dataset", "mine", "--user_id", "ana")
    assert "remembered as chunk-" in chat("/add The heron stands by the upper gate.", flags=flags)
    assert " The heron stands by the upper gate.\n   score" in chat("Where is the heron?", flags=flags)
    assert "nothing comes to mind" in chat("Where is the heron?", flags=("--dataset", "mine", "--user_id", "bob"))


def test_what_it_is_told_is_remembered_and_a_question_is_not(chat: Chat) -> None:
    flags = ("--dataset", "mine", "--user_id", "ana")
    out = chat("The heron stands by the upper gate.", "Where is the heron?", flags=flags)
    assert "remembered as " in out
    assert " The heron stands by the upper gate.\n   score" in out
    assert "1 memory. " in chat(flags=flags)


def test_a_user_begins_a_memory_without_the_sample(chat: Chat) -> None:
    assert "0 memories. " in chat("/add A heron.", flags=("--user_id", "ana"))
    assert "1 memory. " in chat("/quit", flags=("--user_id", "ana"))
    assert "0 memories. " in chat("/quit")


def test_it_counts_the_memories_that_its_user_sees(chat: Chat) -> None:
    chat("/add A heron.", "/add A swan.", flags=("--dataset", "mine", "--user_id", "ana"))
    chat("/add The office opens at nine.", flags=("--dataset", "mine"))
    for user, count in (("ana", "3 memories"), ("bob", "1 memory")):
        assert f"{count}. " in chat("/quit", flags=("--dataset", "mine", "--user_id", user))
    assert "1 memory. " in chat("/quit", flags=("--dataset", "mine"))


def test_feedback_is_for_the_last_answer(chat: Chat) -> None:
    out = chat("/good", "/add The pump failed.", "/add The field is dry.", "Which pump failed?", "/good", "/bad",
               flags=("--user_id", "ana"))  # fmt: skip
    assert "/quit" in out
    assert re.search(r"^[1-9] edges? made stronger$", out, re.MULTILINE)
    assert re.search(r"^[1-9] edges? made weaker$", out, re.MULTILINE)


def test_an_error_does_not_end_the_conversation(chat: Chat) -> None:
    out = chat("/add ", "/what", "/add A swan.", "swan?", flags=("--user_id", "ana"))
    assert "error: " in out
    assert " A swan.\n   score" in out


ANA = ("--user_id", "ana")


def _contents(folder: Path) -> list[tuple[str | None, str]]:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        return [(one.role, one.content) for one in memory.list(user_id="ana")]


def _at_odds(folder: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        for city in ("Leeds", "York"):
            memory.facts.add("user", "home", city, user_id="ana")


@pytest.mark.parametrize("end", ["exit", "quit", "/quit", "/exit", "Exit", "exit.", "Quit!", "exit()", "/quit ."])
def test_words_that_end_it_are_no_memories(chat: Chat, tmp_path: Path, end: str) -> None:
    chat("I keep bees.", end, "never read", flags=ANA)
    assert _contents(tmp_path) == [("user", "I keep bees.")]


def test_commands_and_bare_replies_are_no_memories(chat: Chat, tmp_path: Path) -> None:
    words = ("/help", "/undo", "/forget", "/why", "/facts", "/answer 1", "/good", "/nonsense")
    out = chat(*words, "yes", "No.", "Ja!", "好的", flags=ANA)
    assert "error: " not in out
    assert out.count("not remembered") == 4
    assert _contents(tmp_path) == []


def test_the_last_change_is_taken_back(chat: Chat, tmp_path: Path) -> None:
    out = chat("I keep bees.", "I keep hens.", "/undo", flags=ANA)
    assert "taken back: " in out
    assert _contents(tmp_path) == [("user", "I keep bees.")]


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
    assert "taken back: a deletion" in out
    assert nothing in out
    assert _contents(tmp_path) == [("user", "I keep bees.")]


def test_an_answer_is_needed_before_a_memory_of_it_is_forgotten(chat: Chat) -> None:
    out = chat("/forget 1", "Who keeps bees?", "/forget 1", flags=ANA)
    assert out.count("the last answer has no memories; /forget N deletes memory N of one that has") == 2
    assert "1 to 0" not in out


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


def test_the_scores_of_the_last_answer_are_explained(chat: Chat) -> None:
    assert "ask something first" in chat("/why", flags=ANA)
    assert re.search(r"score \d\.\d{3} = similarity", chat("I keep bees.", "Who keeps bees?", "/why", flags=ANA))


def test_facts_are_listed(chat: Chat, tmp_path: Path) -> None:
    _at_odds(tmp_path)
    out = chat("/facts", flags=ANA)
    assert "  user home: Leeds\n  user home: York\n2 facts\n" in out


def test_a_contradiction_is_asked_about_once_and_answered(chat: Chat, tmp_path: Path) -> None:
    _at_odds(tmp_path)
    question = "What is the home of the user?"
    out = chat(question, question, "/answer neither", "/answer 2", "/answer 1", question, "/undo", "/facts", flags=ANA)
    assert out.count("Which of them is right?") == 1
    assert "/answer is 'neither', but must be 1, 2, both or changed" in out
    assert "the other is wrong; /undo takes it back" in out
    assert "I have asked nothing about a contradiction" in out


@pytest.mark.parametrize("plain", [True, False])
def test_colours_are_for_terminals(chat: Chat, monkeypatch: pytest.MonkeyPatch, plain: bool) -> None:  # noqa: FBT001
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    flags = ("--dataset", "mine", "--user_id", "ana", *(["--plain"] if plain else []))
    out = chat("/add A swan.", "swan?", flags=flags)
    assert ("\033[" in out) != plain
