"""What is read from the files of each system."""

import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated.errors import ConfigError, DatasetError
from tests.archive.foreign.files import BEGIN, both, chatgpt, chatgpt_node, claude, records, texts, written

_SAID = [("user", "I moved to Lyon."), ("assistant", "How is it?"), ("user", "Sunny.")]


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_a_conversation_of_chatgpt_is_read_in_order_with_its_times(tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", [chatgpt(_SAID)])
    found = texts("chatgpt", path)
    assert [(one.role, one.text) for one in found] == _SAID
    assert [one.details["timestamp"] for one in found] == [_at(BEGIN + 60 * n) for n in range(3)]
    assert {one.details["session_id"] for one in found} == {"chatgpt-c1"}
    assert {one.details["metadata"]["conversation"] for one in found} == {"About c1"}


def test_only_the_current_branch_is_read(tmp_path: Path) -> None:
    conversation = chatgpt(_SAID)
    conversation["mapping"]["other"] = chatgpt_node("c1-0", "assistant", "An abandoned answer.")
    assert both("chatgpt", written(tmp_path / "x.json", [conversation]))[0] == [text for _, text in _SAID]
    conversation["current_node"] = "other"
    assert both("chatgpt", written(tmp_path / "x.json", [conversation]))[0] == [_SAID[0][1], "An abandoned answer."]


@pytest.mark.parametrize(
    "changes",
    [
        {"author": {"role": "system"}},
        {"author": {"role": "tool"}},
        {"metadata": {"is_visually_hidden_from_conversation": True}},
        {"content": {"content_type": "code", "parts": None, "text": "print(1)"}},
        {"content": {"content_type": "thoughts", "thoughts": []}},
        {"content": {"content_type": "text", "parts": None}},
        {"content": {"content_type": "text", "parts": ["", None, {"content_type": "image_asset_pointer"}]}},
        {"content": None},
        {"recipient": "browser"},
    ],
)
def test_what_is_not_said_is_left_out(tmp_path: Path, changes: dict[str, Any]) -> None:
    conversation = chatgpt(_SAID)
    conversation["mapping"]["c1-1"]["message"].update(changes)
    path = written(tmp_path / "x.json", [conversation])
    assert both("chatgpt", path) == ([_SAID[0][1], _SAID[2][1]], [])


def test_the_text_beside_a_picture_is_read(tmp_path: Path) -> None:
    conversation = chatgpt(_SAID)
    parts = [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "Look!"]
    conversation["mapping"]["c1-0"]["message"]["content"] = {"content_type": "multimodal_text", "parts": parts}
    assert both("chatgpt", written(tmp_path / "x.json", [conversation]))[0][0] == "Look!"


def test_marks_of_links_and_names_are_read_as_they_are_shown(tmp_path: Path) -> None:
    entity = '\ue200entity\ue202["drink","rooibos","tea"]\ue201'
    cited = f"Rooibos is mild \ue200cite\ue202turn0search0\ue201. Try {entity} 【7†source】."
    path = written(tmp_path / "x.json", [chatgpt([("assistant", cited)])])
    assert both("chatgpt", path)[0] == ["Rooibos is mild. Try rooibos."]


def test_of_claude_the_last_branch_is_read_with_the_texts_of_files(tmp_path: Path) -> None:
    said = [("human", "u1", "root"), ("assistant", "a1", "u1"), ("human", "u2", "root"), ("assistant", "a2", "u2")]
    said += [("assistant", "a3", "u2"), ("human", "u3", "a3"), ("human", "lost", "nowhere"), ("human", "u4", "u3")]
    messages: list[Any] = [
        {"sender": sender, "uuid": name, "text": f"I am {name}.", "parent_message_uuid": parent}
        for sender, name, parent in said
    ]
    messages[-1] |= {"text": "", "attachments": [{"file_name": "rent.txt", "extracted_content": "It is 900 euros."}]}
    path = written(tmp_path / "x.json", [{"uuid": "c", "name": "Rent", "chat_messages": messages}])
    branch = [f"I am {name}." for name in ("u2", "a3", "u3", "lost")]
    assert both("claude", path) == ([*branch, "[document: rent.txt]\nIt is 900 euros."], [])


def test_a_tree_may_have_holes_and_cycles(tmp_path: Path) -> None:
    hole, cycle, lost = chatgpt(_SAID), chatgpt(_SAID, "c2"), chatgpt(_SAID, "c3", current_node="nowhere")
    del hole["mapping"]["c1-0"]
    cycle["mapping"]["c2-0"]["parent"] = "c2-2"
    lost["mapping"]["c3-0"]["children"] = ["nowhere"]
    said = [text for _, text in _SAID]
    assert both("chatgpt", written(tmp_path / "x.json", [hole, cycle, lost])) == ([*said[1:], *said, *said], [])


def test_a_message_without_a_time_has_that_of_the_message_before(tmp_path: Path) -> None:
    conversation = chatgpt(_SAID)
    conversation["mapping"]["c1-0"]["message"]["create_time"] = None
    conversation["mapping"]["c1-2"]["message"]["create_time"] = 0
    found = texts("chatgpt", written(tmp_path / "x.json", [conversation]))
    assert [one.details["timestamp"] for one in found] == [_at(BEGIN), _at(BEGIN + 60), _at(BEGIN + 60)]


@pytest.mark.parametrize("time", ["yesterday", ["x"], 1e300, True])
def test_a_bad_time_leaves_out_its_message_only(tmp_path: Path, time: object) -> None:
    conversation = chatgpt(_SAID)
    conversation["mapping"]["c1-1"]["message"]["create_time"] = time
    said, places = both("chatgpt", written(tmp_path / "x.json", [conversation]))
    assert said == [_SAID[0][1], _SAID[2][1]]
    assert places == ["x.json[0].mapping.c1-1"]


def test_characters_that_cannot_be_stored_are_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", [chatgpt([("user", "a\0b \ud83d c \U0001f600")])])
    assert both("chatgpt", path)[0] == ["a\ufffdb \ufffd c \U0001f600"]


def test_all_parts_of_an_export_in_a_zip_file_or_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "export").mkdir()
    parts = {f"conversations-00{number}.json": [chatgpt(_SAID[:1], f"c{number}")] for number in range(3)}
    for name, value in parts.items():
        written(tmp_path / "export" / name, value)
    written(tmp_path / "export" / "user.json", {"id": "u"})
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for name in ("conversations-002.json", "conversations-000.json", "conversations-001.json", "user.json"):
            archive.write(tmp_path / "export" / name, f"../{name}")
    for path in (tmp_path / "export", tmp_path / "export.zip"):
        assert [one.details["session_id"] for one in texts("chatgpt", path)] == [f"chatgpt-c{n}" for n in range(3)]
    with pytest.raises(DatasetError, match=r"conversations-000\.json|user\.json"):
        records("claude", tmp_path / "export")


_MESSED = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "user", "text", "c1-0", "root"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["role", "parts"]), inner),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_messed_up_conversation_never_stops_the_import(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from(["chatgpt", "claude"]))
    make = chatgpt if source == "chatgpt" else claude
    first, last = make(_SAID, "first"), make(_SAID, "last")
    messed: Any = make(_SAID)
    place = messed
    while isinstance(place, dict | list) and place:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if data.draw(st.booleans()) or not isinstance(place[key], dict | list):
            if not (place is messed and key in {"mapping", "chat_messages"}):
                place[key] = data.draw(_MESSED)
            break
        place = place[key]
    path = tmp_path_factory.getbasetemp() / "messed.json"
    said, places = both(source, written(path, [first, messed, last]))
    expected = [text for _, text in _SAID] if source == "chatgpt" else [_SAID[1][1]]
    assert said[: len(expected)] == said[-len(expected) :] == expected
    assert all(one.startswith("messed.json[1]") for one in places)


def test_a_conversation_of_claude_is_read_without_thoughts_and_tools(tmp_path: Path) -> None:
    conversation = claude([("human", "I moved to Lyon."), ("assistant", "Nice."), ("human", "Thanks.")])
    thought, call = {"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "name": "web"}
    result = {"type": "tool_result", "content": [{"type": "text", "text": "Found."}]}
    conversation["chat_messages"][1]["content"][:0] = [thought, call, result]
    found = texts("claude", written(tmp_path / "conversations.json", [conversation]))
    said = [("user", "I moved to Lyon."), ("assistant", "Nice."), ("user", "Thanks.")]
    assert [(one.role, one.text) for one in found] == said
    assert [one.details["timestamp"].minute for one in found] == [0, 1, 2]
    assert {one.details["session_id"] for one in found} == {"claude-c1"}


def test_malformed_messages_of_claude_are_left_out(tmp_path: Path) -> None:
    conversation = claude([("human", text) for text in ("One.", "Two.", "Three.", "Four.")])
    messages = conversation["chat_messages"]
    del messages[0]["uuid"]
    messages[1] = "Two."
    messages[2].update(content=None, text=None)
    found = both("claude", written(tmp_path / "x.json", [conversation, {"chat_messages": []}]))
    assert found == (["Four."], ["x.json[0].chat_messages[0]", "x.json[0].chat_messages[1]", "x.json[1]"])


def test_a_file_of_another_system_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", [claude([("human", "Hello.")])])
    with pytest.raises(DatasetError, match="--from claude"):
        records("chatgpt", path)
    with pytest.raises(DatasetError, match="colour"):
        records("chatgpt", written(path, [{"colour": "red"}]))
    with pytest.raises(ConfigError, match="chatgpt, claude"):
        records("letters", path)
