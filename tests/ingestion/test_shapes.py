"""Each message of `SHAPES` is stored with the right role and text, and what is not known is refused by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.ingestion.contents import read_contents
from neurogated.text.strings import repaired
from tests.ingestion.shapes import SHAPES, Expected

CASES = [
    pytest.param(message, wanted, id=f"{shape}: {column}")
    for shape, columns in SHAPES.items()
    for column, (message, wanted) in columns.items()
]
HALF, HERON = "\ud83d", "My heron is called Ada."


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NeuroGraphMemory]:
    folder = str(tmp_path_factory.mktemp("shapes"))
    with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
        yield memory


@pytest.mark.parametrize(("message", "wanted"), CASES)
def test_a_message_of_each_format_has_the_right_role_and_text(
    kept: NeuroGraphMemory,
    message: Any,  # noqa: ANN401
    wanted: Expected,
    request: pytest.FixtureRequest,
) -> None:
    added = kept.add(message, user_id=request.node.name, session_id="s")
    node = kept.get(added[0])
    assert (node.kind, node.role, node.content) == wanted
    assert not added.skipped


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ({"role": "user", "content": [{"type": "hologram", "data": "A"}]}, "part 0 .* the type 'hologram'"),
        ({"role": "user", "content": ["Hello.", {"glyphs": 3}]}, "part 1 .* no type .* 'glyphs'"),
        ({"role": "user", "content": [7]}, "part 0 .* 7"),
        ({"role": "user", "parts": [{"type": "hologram"}]}, "'hologram'"),
        ({"lc": 1, "id": {"a": 1}, "kwargs": {"data": "x"}}, "no role"),
        ({"type": "hologram", "words": "Hello."}, "type 'hologram' has no role and no content; .* 'words'"),
        ({"speaker": "Ana", "said": "Hello."}, "no role and no content; .* 'speaker', 'said'"),
        ({"role": "user", "utterance": "Hello."}, "no content; .* 'utterance'"),
        ({"role": "narrator", "content": "Hello."}, "'narrator'"),
        ({"role": "user", "content": 5}, "must be text or parts, not int"),
        (object(), "neither text nor a message"),
    ],
)
def test_what_is_not_known_is_refused_by_name_and_nothing_is_stored(
    kept: NeuroGraphMemory,
    message: Any,  # noqa: ANN401
    named: str,
) -> None:
    count = kept.count()
    with pytest.raises(InputError, match=f"content 1: .*{named}"):
        kept.add([HERON, message])
    with pytest.raises(InputError, match=named):
        kept.add(message)
    assert kept.count() == count


def test_a_part_that_is_not_known_is_kept_beside_an_original(kept: NeuroGraphMemory) -> None:
    parts = [{"type": "hologram", "data": "A"}, {"type": "text", "text": HERON}]
    (name,) = kept.add({"role": "user", "content": parts, "original": "[]"}, user_id="kept", session_id="s")
    assert kept.get(name).content == HERON
    assert kept.get(name).metadata["message"]["parts"] == parts[:1]


def test_a_message_gives_its_text_its_calls_and_its_results(kept: NeuroGraphMemory) -> None:
    part = {"type": "tool-weather", "state": "output-available", "input": {"city": "Oban"}, "output": {"degrees": 7}}
    message = {
        "id": "said",
        "role": "assistant",
        "name": "Bea",
        "parts": [part, {"type": "text", "text": "It is cold."}],
    }
    added = kept.add(message, user_id="three", session_id="s")
    assert [(one.id, one.role, one.speaker, one.content) for one in map(kept.get, added)] == [
        ("said", "assistant", "Bea", "It is cold."),
        ("said#call", "assistant", None, 'weather(city="Oban")'),
        ("said#result", "tool", None, '{"degrees": 7}'),
    ]
    assert kept.add(message, user_id="three", session_id="s") == added


@pytest.mark.parametrize("blank", [" ", {"role": "assistant", "content": ""}, {"role": "assistant", "content": None},
    {"role": "user", "content": []}, {"role": "user", "content": [{"type": "text", "text": ""}]}])  # fmt: skip
def test_a_blank_message_costs_no_other_and_is_reported(
    memory: NeuroGraphMemory,
    blank: Any,  # noqa: ANN401
    caplog: pytest.LogCaptureFixture,
) -> None:
    added = memory.add([HERON, blank, {"role": "user", "content": "Hello?"}, blank], user_id="ana", session_id="s")
    assert [memory.get(one).content for one in added] == [HERON, "Hello?"]
    assert (added.skipped, added.notes) == (2, ("2 of the texts are blank, and left out",))
    assert added.notes[0] in caplog.text


def test_nul_and_half_characters_are_repaired_and_reported(memory: NeuroGraphMemory) -> None:
    said: list[Any] = [{"role": "user", "content": HERON}, {"role": "tool", "content": f"PK\0 {HALF}"}, f"{HALF}\ude00"]
    added = memory.add(said, user_id="ana", session_id="s", metadata={"mood": HALF})
    assert [memory.get(one).content for one in added] == [HERON, "PK\ufffd \ufffd", "\U0001f600"]
    assert memory.get(added[0]).metadata == {"mood": "\ufffd"}
    assert added.notes == ("2 of the texts are with NUL or half characters, which are now U+FFFD",)
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


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)
_KEYS = st.sampled_from(
    ["role", "content", "parts", "type", "text", "toolResult", "tool_calls", "from", "value", "data"]
)


@given(st.dictionaries(_KEYS | st.text(max_size=5), _JSON | st.lists(st.dictionaries(_KEYS, _JSON)), max_size=6))
def test_any_mapping_is_read_or_refused(message: dict[str, Any]) -> None:
    try:
        documents = read_contents([{"role": "user", **message}], {})
    except InputError:
        return
    assert documents or documents.skipped
    for document in documents:
        json.dumps(document.passages[0].aside)
