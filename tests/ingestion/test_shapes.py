"""Each message of `SHAPES` is stored with the right role and text, and what is not known is refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.ingestion.contents import read_contents
from neurogated.text.strings import repaired
from tests.ingestion.shapes import SHAPES, Expected

HALF, HERON = "\ud83d", "My heron is called Ada."
ANSWERED = [{"role": "assistant", "content": HERON}]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NeuroGraphMemory]:
    folder = str(tmp_path_factory.mktemp("shapes"))
    with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
        yield memory


@pytest.mark.parametrize(("message", "wanted"), SHAPES.values(), ids=SHAPES)
def test_a_message_of_each_format_has_the_right_role_and_text(
    kept: NeuroGraphMemory,
    message: Any,  # noqa: ANN401
    wanted: Expected | list[Expected],
    request: pytest.FixtureRequest,
) -> None:
    added = kept.add(message, user_id=request.node.name, session_id="s")
    found = [(node.kind, node.role, node.content) for node in map(kept.get, added)]
    assert found == wanted if isinstance(wanted, list) else found[0] == wanted
    assert not added.skipped


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ({"role": "user", "content": [{"type": "hologram", "data": "A"}]}, "part 1 .* the type 'hologram'"),
        ({"role": "user", "content": ["", {"glyphs": 3}]}, "part 2 .* no type .* 'glyphs'"),
        ({"role": "user", "content": [7]}, "part 1 .* 7"),
        ({"role": "user", "parts": [{"type": "hologram"}]}, "'hologram'"),
        ({"lc": 1, "id": {"a": 1}, "kwargs": {"data": "x"}}, "no role"),
        ({"type": "hologram", "words": "Hello."}, "type 'hologram' has no role and no content; .* 'words'"),
        ({"speaker": "Ana", "said": "Hello."}, "no role and no content; .* 'speaker', 'said'"),
        ({"role": "user", "utterance": "Hello."}, "no content; .* 'utterance'"),
        ({"role": "narrator", "content": "Hello."}, "'narrator'"),
        ({"role": "user", "content": 5}, "must be text or parts, not int"),
        (object(), "neither text nor a message"),
        ({"source": "user", "content": "Hi.", "type": "TextMessage"}, "type 'TextMessage' has no role"),
        ({"message_type": "user_message", "content": "Hi."}, "no role; .* 'message_type'"),
        ({"parts": [{"content": "Hi.", "part_kind": "user-prompt"}], "kind": "request"}, "no role; .* 'kind'"),
        ({"message": {"content": "Hi."}}, "no role and no content; its keys are 'message'"),
        ({"output": {"text": "Hi."}}, "no role and no content; its keys are 'output'"),
        ({"custom_id": "1", "response": {"body": {"choices": []}}}, "no role and no content; .* 'response'"),
        ({"role": "tool-request", "content": "Hi."}, "'tool-request' is unknown"),
        ({"role": "user", "content": "Hi.", "metadata": {"x": float("nan")}}, "metadata .* is not JSON"),
        ({"question": "Hi?", "answer": "Hi."}, "no role and no content; .* 'question'"),
    ],
)
def test_what_is_not_known_is_refused_by_name_and_costs_no_other_message(
    kept: NeuroGraphMemory,
    message: Any,  # noqa: ANN401
    named: str,
) -> None:
    count = kept.count()
    for alone, place in ((message, ""), ([message], "content 1: "), ({"messages": [" ", message]}, "messages 2: ")):
        with pytest.raises(InputError, match=f"^{place}.*{named}"):
            kept.add(alone)
    assert kept.count() == count
    added = kept.add([HERON, message, ("user", HERON), {"messages": [message]}], session_id="s")
    assert [kept.get(one).content for one in added] == [HERON, HERON]
    assert (added.refused, added.skipped, len(added.notes)) == (2, 0, 1)
    assert re.match(
        f"messages that cannot be read or stored, .*: 2, content 2: .*{named}.*; content 4: messages 1: ",
        added.notes[0],
    )


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("key", ["content", "parts"])
def test_the_words_beside_a_part_that_is_not_known_are_stored_and_the_part_is_told(
    kept: NeuroGraphMemory, key: str, *, several: bool
) -> None:
    odd = {"type": "hologram", "data": "A"}
    message = {"role": "user", key: [odd, {"type": "text", "text": HERON}, {"glyphs": 3}]}
    added = kept.add([HERON, message] if several else message, user_id=f"beside {key} {several}", session_id="s")
    node = kept.get(added[-1])
    assert (node.content, node.metadata["message"]["parts"]) == (HERON, [odd, {"glyphs": 3}])
    (note,) = added.notes
    place = "content 2: " if several else ""
    assert note.startswith("parts that are not known, and are kept beside their messages: 2, ")
    assert f", {place}part 1 of a message has the type 'hologram'" in note
    assert f"; {place}part 3 of a message has no type and no key that is known; its keys are 'glyphs'" in note
    assert added.refused == 0


def test_each_note_names_the_first_five_places_and_counts_the_others(kept: NeuroGraphMemory) -> None:
    blank, half = ([{"role": "user", "content": one}] * 6 for one in (" ", HALF))
    added = kept.add([HERON, *blank, *half, {"messages": [{"role": "user", "said": "Hi."}] * 7}], session_id="notes")
    shown = [re.findall(r"(content \d+)", note) + re.findall(r"and (\d) more", note) for note in added.notes]
    assert (added.skipped, added.refused) == (6, 7)
    for first, places in zip((2, 8), shown, strict=False):
        assert places == [*(f"content {place}" for place in range(first, first + 5)), "1"]
    assert re.match(r".*: 7, content 14: messages 1: .*; content 14: messages 5: .*; and 2 more$", added.notes[2])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"object": "response", "instructions": "Be terse.", "error": {"message": "E"}, "output": ANSWERED}, 2),
        ({"promptFeedback": {"a": "X"}, "candidates": [{"content": ANSWERED[0], "groundingMetadata": {"q": "w"}}]}, 2),
        ({"message": ANSWERED[0], "note": "N", "done": True, "eval_count": 7}, 1),
        ({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": ANSWERED[0]}]}, 0),
    ],
)  # fmt: skip
def test_what_stands_beside_the_message_of_an_answer_is_told(
    kept: NeuroGraphMemory, answer: dict[str, Any], told: int
) -> None:
    added = kept.add([answer])
    assert kept.get(added[0]).content == HERON
    assert [note.count("'") for note in added.notes] == [2 * told] * bool(told)


def test_a_pair_may_have_parts_and_a_list_in_a_list_is_refused_with_its_place(kept: NeuroGraphMemory) -> None:
    pair: Any = ("user", [{"type": "text", "text": HERON}])
    several: list[Any] = [pair, [pair], [[*pair]]]
    for content in several:
        assert [kept.get(one).role for one in kept.add(content, session_id="pair")] == ["user"]
    added = kept.add([HERON, [{"role": "user", "content": HERON}]])  # type: ignore[list-item]  # on purpose
    assert (added.refused, "content 2: " in added.notes[0]) == (1, True)


def test_a_text_that_is_too_long_costs_no_other(tmp_path: Path) -> None:
    config, huge = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash"), "x" * 10_000_001
    with NeuroGraphMemory(config) as memory:
        added = memory.add([HERON, huge, {"role": "user", "content": huge}, {"role": "user", "content": HERON}])
        assert [memory.get(one).content for one in added] == [HERON, HERON]
        assert added.refused == 2
        with pytest.raises(InputError, match="10,000,000"):
            memory.add([huge])


def test_a_message_gives_its_text_its_calls_and_its_results_in_the_order_of_its_parts(kept: NeuroGraphMemory) -> None:
    part = {"type": "tool-weather", "state": "output-available", "input": {"city": "Oban"}, "output": {"degrees": 7}}
    message = {
        "id": "said",
        "role": "assistant",
        "name": "Bea",
        "parts": [
            part,
            {"type": "text", "text": "It is cold."},
            {**part, "input": {}},
            {"type": "text", "text": "Brr."},
        ],
    }
    added = kept.add(message, user_id="three", session_id="in order")
    assert [(one.id, one.role, one.speaker, one.content) for one in map(kept.get, added)] == [
        ("said#call", "assistant", None, 'weather(city="Oban")'),
        ("said#result", "tool", None, '{"degrees": 7}'),
        ("said", "assistant", "Bea", "It is cold."),
        ("said#call#1", "assistant", None, "weather()"),
        ("said#result#1", "tool", None, '{"degrees": 7}'),
        ("said#1", "assistant", "Bea", "Brr."),
    ]
    assert kept.add(message, user_id="three", session_id="in order") == added
    in_order = kept.find(user_id="three", session_id="in order", order_by="position")
    assert [one.id for one in in_order] == added
    shorter = kept.add({**message, "parts": message["parts"][:2]}, user_id="three", session_id="in order")
    assert (
        shorter
        == [one.id for one in kept.find(user_id="three", session_id="in order", order_by="position")]
        == added[:3]
    )
    assert kept.update("said", "It was cold.").content == "It was cold."
    assert kept.add({**message, "parts": []}, user_id="three", session_id="in order") == []
    assert sorted(kept.add(message, user_id="three", session_id="in order", replace=False)) == sorted(shorter)
    assert kept.delete("said") == 3
    assert kept.count(user_id="three", session_id="in order") == 0


_PARTS = st.lists(
    st.sampled_from(["text", "call", "result", "image", "thinking"]).flatmap(
        lambda kind: st.tuples(st.just(kind), st.sampled_from("abc"))
    ),
    max_size=8,
)


@pytest.mark.parametrize("key", ["content", "parts"])
@given(_PARTS)
def test_the_order_of_the_parts_is_kept(key: str, parts: list[tuple[str, str]]) -> None:
    forms: dict[str, Any] = {
        "text": lambda word: {"type": "text", "text": word},
        "call": lambda word: {"type": "tool_use", "name": word, "input": {}},
        "result": lambda word: {"type": "tool_result", "content": word},
        "image": lambda word: {"type": "image", "source": {"type": "url", "url": word}},
        "thinking": lambda word: {"type": "thinking", "thinking": word},
    }
    said = {"role": "assistant", key: [forms[kind](word) for kind, word in parts]}
    wanted = [
        (kind, f"{word}()" if kind == "call" else word) for kind, word in parts if kind in {"text", "call", "result"}
    ]
    for details in ({}, {"id": "x"}):
        documents = read_contents([said], details)  # type: ignore[arg-type]  # any detail
        if wanted:
            passages = documents[0].passages
            found = [
                (one.kind or ("result" if one.role == "tool" else "text"), one.text.split("\n")) for one in passages
            ]
            assert [(kind, word) for kind, words in found for word in words] == wanted
            assert sum(not one.part for one in passages) >= 1


def test_nul_and_half_characters_are_repaired_and_reported(memory: NeuroGraphMemory) -> None:
    said: list[Any] = [{"role": "user", "content": HERON}, {"role": "tool", "content": f"PK\0 {HALF}"}, f"{HALF}\ude00"]
    added = memory.add(said, user_id="ana", session_id="s", metadata={"mood": HALF})
    assert [memory.get(one).content for one in added] == [HERON, "PK\ufffd \ufffd", "\U0001f600"]
    assert memory.get(added[0]).metadata == {"mood": "\ufffd"}
    (note,) = added.notes
    assert re.fullmatch(".* NUL .*: 2, content 2; content 3", note)
    assert memory.add_document(f"A heron {HALF}.")
    assert memory.update(added[0], f"Ada {HALF}").content == "Ada \ufffd"
    for query in (f"Ada {HALF}", HALF):
        assert memory.recall(query, user_id="ana").memories
        assert memory.get_context(query, user_id="ana").text


@given(st.text(st.characters()))
def test_a_repaired_text_can_be_stored_and_is_repaired_once(text: str) -> None:
    whole = repaired(text)
    assert "\0" not in whole
    assert whole.encode().decode() == whole == repaired(whole)
    if "\0" not in text and text.isprintable():
        assert whole == text


def test_calls_at_the_same_time_and_what_code_printed_are_kept(kept: NeuroGraphMemory) -> None:
    calls = '[{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "clock", "arguments": {}}]'
    ran = {"type": "code_execution_result", "stdout": "Mean: 5.5", "stderr": "", "return_code": 0, "content": []}
    part = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": ran}
    for message, text in (
        ({"from": "function_call", "value": calls}, 'weather(city="Oslo")\nclock()'),
        ({"role": "assistant", "content": [part]}, "Mean: 5.5"),
    ):
        assert [kept.get(one).content for one in kept.add([message], session_id=text)] == [text]
