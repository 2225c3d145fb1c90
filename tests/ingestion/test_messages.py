"""Messages are stored: their texts as text, their other parts as metadata. See `test_shapes` for the formats."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import anthropic.types.beta
import pytest
from openai.types.responses import response_output_item

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError, UnknownIdError
from neurogated.ingestion.messages import read_message
from neurogated.session import compose
from neurogated.testing import ManualClock

CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lyon"}'}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 90_000}}


def test_calls_of_tools_are_a_memory_of_their_own_kind(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add({"role": "assistant", "content": "  ", "tool_calls": [CALL]}, session_id="s", user_id="ana")
    node = memory.get(name)
    assert (node.kind, node.role, node.content) == ("call", "assistant", 'weather(city="Lyon")')
    said = {"id": "m", "role": "assistant", "content": "I look.", "tool_calls": [CALL, CALL]}
    text, call = memory.add(said, session_id="s", user_id="ana")
    assert (memory.get(text).content, memory.get(call).content) == ("I look.", node.content)
    assert memory.add(said, session_id="s", user_id="ana") == [text, call]
    assert memory.count(user_id="ana") == 3


def test_a_long_or_broken_call_is_one_short_line(memory: NeuroGraphMemory) -> None:
    for arguments in ("A" * 90_000, '{"text": "' + "line\\n" * 9_000 + '"}', "{not json\n", "[1]", "\0"):
        called = {"type": "function_call", "call_id": "1", "name": "write", "arguments": arguments}
        (name,) = memory.add(called, session_id="s")
        content = memory.get(name).content
        assert content.startswith("write(")
        assert len(content.splitlines()) == 1
        assert len(content) < 500


def test_the_first_memory_of_a_message_has_its_original_whole(memory: NeuroGraphMemory) -> None:
    original = {"raw": "A" * 20_000, "nested": [{"call": None}, "\0"]}
    long = " ".join(f"Sentence number {number} is here." for number in range(200))
    first, *others = memory.add({"role": "tool", "content": long, "original": original}, session_id="s")
    assert memory.get(first).metadata == {"original": original}
    assert others
    assert not any(memory.get(name).metadata for name in others)
    contents: list[Any] = [None, "", []]
    for content in contents:
        (name,) = memory.add({"role": "assistant", "content": content, "original": original}, session_id="s")
        assert (memory.get(name).kind, memory.get(name).metadata["original"]) == ("placeholder", original)


def test_other_parts_are_kept_beside_the_text_and_long_ones_only_by_their_length(memory: NeuroGraphMemory) -> None:
    content = [{"type": "text", "text": "See:"}, IMAGE]
    name, _ = memory.add({"role": "user", "content": content, "tool_calls": [CALL], "metadata": {"place": "Lyon"}})
    node = memory.get(name)
    assert node is not None
    assert node.metadata["place"] == "Lyon"
    assert node.metadata["message"]["tool_calls"] == [CALL]
    (image,) = node.metadata["message"]["parts"]
    assert image["type"] == "image_url"
    assert len(str(node.metadata)) < 1_000


def test_a_message_without_role_or_anything_said_is_refused() -> None:
    none: dict[str, Any] = {"role": None, "content": "x"}
    for message in ({"content": "x"}, {"role": "user"}, {}, {"role": "user", "text": "x"}, none):
        with pytest.raises(InputError):
            read_message(message)
    assert read_message({"type": "human", "role": None, "content": "x"}).role == "user"


@pytest.mark.parametrize(
    ("lifetime", "end"),
    [
        ({"expires_at": "2026-11-06T08:00:00Z"}, datetime(2026, 11, 6, 8, tzinfo=UTC)),
        ({"expiresAt": 1_793_952_000}, datetime(2026, 11, 6, 8, tzinfo=UTC)),
        ({"ttl": 3600}, datetime(2026, 11, 5, 9, tzinfo=UTC)),
        ({"ttl": timedelta(hours=1)}, datetime(2026, 11, 5, 9, tzinfo=UTC)),
        ({"expiration_date": "2026-11-06"}, datetime(2026, 11, 7, tzinfo=UTC)),
        ({"expiration_date": "9999-12-31"}, datetime(9999, 12, 31, tzinfo=UTC)),
    ],
)
@pytest.mark.parametrize("argument", [{}, {"ttl": 60}, {"expires_at": "2030-01-01"}])
def test_the_end_of_life_in_a_message_counts_before_that_of_the_call(
    config: MemoryConfig, lifetime: dict[str, Any], argument: dict[str, Any], end: datetime
) -> None:
    clock = ManualClock(datetime(2026, 11, 5, 8, tzinfo=UTC))
    message = {"role": "user", "content": "The safe code is 4711.", "valid_to": "2026-12-01T00:00:00Z", **lifetime}
    settings = config.replace(timezone="UTC")
    with NeuroGraphMemory(settings, parts=compose.build(settings, clock)) as memory:
        added = memory.add(message, **argument)
        node = memory.get(added[0])
        assert (node.expires_at, node.valid_to) == (end, datetime(2026, 12, 1, tzinfo=UTC))
        assert (node.metadata, added.notes) == ({}, ())


def test_a_lifetime_that_is_not_understood_is_refused_or_reported(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        for wrong in ({"expires_at": "soon"}, {"ttl": "long"}, {"ttl": 1, "expires_at": 1e9}, {"valid_to": [1]}):
            with pytest.raises(InputError):
                memory.add({"role": "user", "content": "x", **wrong})
        with pytest.raises(InputError, match="both"):
            memory.add({"role": "user", "content": "x", "expires_at": "2027-01-01", "expiration_date": "2027-01-01"})
        (note,) = memory.add({"role": "user", "content": "x", "valid_until": "2027-01-01"}).notes
        assert "'valid_until'" in note
        assert memory.add({"type": "ai", "content": "Hi.", "invalid_tool_calls": []}).notes == ()


def test_a_pair_of_a_role_of_the_callers_own_is_a_message_and_never_two_texts(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add(("customer", "Where is my parcel?"), role_map={"customer": "user"})
    (other,) = memory.add([["user", "It came today."]])  # type: ignore[list-item]  # as JSON has it
    said = [(memory.get(one).role, memory.get(one).content) for one in (name, other)]
    assert said == [("user", "Where is my parcel?"), ("user", "It came today.")]
    with pytest.raises(InputError, match="role_map"):
        memory.add(("customer", "Hello."))


def test_what_is_left_out_is_told(memory: NeuroGraphMemory) -> None:
    call = {"id": "1", "function": {"name": "save", "arguments": {"text": "x" * 9_000}}}
    long = {"role": "assistant", "tool_calls": [call]}
    assert "only the length is kept" in memory.add(long).notes[0]
    assert memory.add({**long, "original": long}).notes == ()
    record = {
        "conversations": [{"from": "human", "value": "Hello."}],
        "system": "You are terse.",
        "tools": "[]",
    }
    report = memory.add(record)
    assert [(memory.get(one).role, memory.get(one).content) for one in report] == [
        ("system", "You are terse."),
        ("user", "Hello."),
    ]
    (note,) = report.notes
    assert "'tools'" in note


def test_every_item_of_the_responses_api_and_every_block_of_anthropic_is_known() -> None:
    """As the packages of this environment list them: a new kind of part fails here first."""
    items = get_args(get_args(response_output_item.ResponseOutputItem)[0])
    blocks = [get_args(union)[0] for union in (anthropic.types.ContentBlock, anthropic.types.beta.BetaContentBlock)]
    classes = [*items, *(block for union in blocks for block in get_args(union))]
    types = {get_args(one.model_fields["type"].annotation)[0] for one in classes} - {"message"}
    for name in sorted(types):
        read_message({"role": "assistant", "content": [{"type": name}]})
    assert len(types) > 30


def called(name: str, arguments: str = "{}", **about: str) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **about}


SILENT: dict[str, Any] = {
    "a call": {"role": "assistant", "content": None, "tool_calls": [called("look")]},
    "an image": {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
}


@pytest.mark.parametrize("silent", SILENT.values(), ids=SILENT)
@pytest.mark.parametrize("words", ["text", "message", "update"])
def test_a_text_in_the_place_of_a_silent_message_is_a_text(
    memory: NeuroGraphMemory, silent: dict[str, Any], words: str
) -> None:
    memory.add({**silent, "id": "x"})
    text = "The zeppelin leaves from Oban."
    if words == "update":
        memory.update("x", content=text)
    else:
        memory.add(text if words == "text" else {"role": "user", "content": text}, id="x")
    assert memory.get("x").kind == "episode"
    assert [one.id for one in memory.recall("Where does the zeppelin leave?")] == ["x"]
    memory.add({**silent, "id": "x"})
    assert memory.get("x").kind in {"call", "placeholder"}


TOGETHER: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "name": "look", "input": {"at": "the harbour"}},
        {"type": "tool_result", "content": "Fog. " * 900},
    ],
}


@pytest.mark.parametrize("given", [{"id": "y"}, {}])
@pytest.mark.parametrize("session", [{"session_id": "s"}, {}])
def test_the_parts_of_a_message_go_together(
    memory: NeuroGraphMemory, given: dict[str, Any], session: dict[str, Any]
) -> None:
    memory.add({"role": "user", "content": "Look, please."}, **session)
    ids = memory.add({**TOGETHER, **given}, **session)
    first = ids[0]
    assert ids[1:3] == [f"{first}#call", f"{first}#result"]
    assert memory.get(f"{first}#result#1").role == "tool"
    memory.update(first, ttl=1_000, metadata={"place": "Oban"}, kind="event")
    assert all(memory.get(one).expires_at and memory.get(one).metadata["place"] == "Oban" for one in ids)
    assert [memory.get(one).kind for one in ids[:2]] == ["event", "call"]
    memory.update(first, content="I looked.")
    assert memory.get(f"{first}#call").content == 'look(at="the harbour")'
    assert memory.count() == len(ids) + 1
    assert memory.delete(first) == len(ids)
    assert memory.count() == 1
    memory.undo()
    assert memory.count() == len(ids) + 1


def test_a_byte_order_mark_stays_in_no_text(memory: NeuroGraphMemory) -> None:
    marked: list[Any] = ["\ufeffOne.", ("user", "\ufeffTwo."), {"role": "user", "content": "\ufeffThree."}]
    names = [*memory.add(marked), *memory.add_document("\ufeffFour.")]
    texts = [memory.get(name).content for name in names]
    texts.append(memory.update(names[0], "\ufeffFive.").content)
    assert texts == ["One.", "Two.", "Three.", "Four.", "Five."]


@pytest.mark.parametrize(
    "bad",
    [
        "\ufeff",
        "\ufeff \ufeff",
        ("user", "\ufeff"),
        {"role": "user", "content": [{"type": "text", "text": "\ufeff"}]},
        *({"role": "user", "content": "Odd.", **odd} for odd in (
            {"name": "Ann\0"},
            {"name": "\ud83d"},
            {"id": "i\ud83d"},
            {"metadata": {"k\0": ["v\ud83d"]}},
            {"thread": "\ud83d"},
            {"tool_calls": [called("f\0", '{"a": "\ud83d"}')]},
        )),
    ],
)  # fmt: skip
def test_a_blank_or_broken_message_costs_no_other_and_is_counted(memory: NeuroGraphMemory, bad: dict[str, Any]) -> None:
    added = memory.add(["One.", bad, {"role": "user", "content": "Two."}])
    texts = [memory.get(name).content for name in added]
    assert (texts[0], texts[-1], len(added.notes)) == ("One.", "Two.", 1)
    assert memory.count() == len(added)


@pytest.mark.parametrize(
    ("silent", "shown"),
    [
        ({"images": ["AAAA"]}, "[image]"),
        ({"experimental_attachments": [{"name": "a.txt", "url": "data:,x"}]}, "[file: a.txt]"),
        ({"attachments": [{"file_id": "f"}]}, "[file]"),
        ({"reasoning_content": "Hm."}, "[reasoning]\nHm."),
        ({"audio": {"id": "a1"}}, "[audio]"),
        ({"tool_calls": [{"function": {"arguments": "{}"}}]}, "[call]"),
        ({"artifact": {"rows": 3}}, "[artifact]"),
    ],
)
def test_parts_beside_the_content_are_never_lost(memory: NeuroGraphMemory, silent: dict[str, Any], shown: str) -> None:
    (name,) = memory.add({"role": "assistant", "content": "", **silent})
    assert memory.get(name).content == shown
    assert memory.get(name).metadata["message"] == silent
    (name,) = memory.add({"role": "assistant", "content": "Here.", **silent})
    assert memory.get(name).content.startswith("Here.")


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (
            {"type": "output_text", "text": "Cold.", "annotations": [{"type": "url_citation", "title": "Oban"}]},
            {"annotations": [{"type": "url_citation", "title": "Oban"}]},
        ),
        ({"type": "text", "text": "Cold.", "citations": [{"cited_text": "C."}]}, {"citations": [{"cited_text": "C."}]}),
        (
            {"type": "text", "text": {"value": "Cold.", "annotations": [{"text": "a"}]}},
            {"annotations": [{"text": "a"}]},
        ),
        (
            {"citationsContent": {"content": [{"text": "Cold."}], "citations": [{"title": "Oban"}]}},
            {"citations": [{"title": "Oban"}]},
        ),
        ({"type": "text", "text": "Cold.", "annotations": [], "citations": None}, None),
    ],
)
def test_the_sources_of_a_text_are_kept_beside_it(
    memory: NeuroGraphMemory, part: dict[str, Any], kept: dict[str, Any] | None
) -> None:
    (name,) = memory.add({"role": "assistant", "content": [part]})
    node = memory.get(name)
    assert (node.content, node.metadata.get("message")) == ("Cold.", kept and {"parts": [kept]})


def test_parts_within_parts_are_read_to_a_bound(memory: NeuroGraphMemory) -> None:
    deep: dict[str, Any] = {"type": "tool_result", "content": "deep words"}
    for _ in range(40):
        deep = {"type": "tool_result", "content": [deep]}
    assert memory.get(memory.add({"role": "user", "content": [deep]})[0]).content == "deep words"
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InputError, match="within each other"):
        memory.add({"role": "user", "content": endless})


def test_an_owner_in_a_message_is_not_followed_and_is_told(memory: NeuroGraphMemory) -> None:
    report = memory.add({"role": "user", "content": "I keep bees.", "user_id": "bob", "importance": 1})
    node = memory.get(report[0])
    assert (node.scope.user_id, node.metadata["message"]) == (None, {"user_id": "bob", "importance": 1})
    assert [key in note for key, note in zip(("'importance'", "'user_id'"), report.notes, strict=True)] == [True, True]


def test_of_several_choices_none_is_guessed(memory: NeuroGraphMemory) -> None:
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("Paris.", "Lyon.")]
    with pytest.raises(InputError, match=r"content 1: 2 choices given; .*\.choices\[0\]\.message"):
        memory.add([{"choices": choices}])
    with pytest.raises(InputError, match=r"\.choices\[0\]\.message"):
        memory.add({"choices": [{"delta": {"content": "Par"}}]})
    assert memory.count() == 0


def test_a_message_that_replaces_one_of_another_session_is_told(memory: NeuroGraphMemory) -> None:
    def said(text: str, name: str = "m1") -> dict[str, str]:
        return {"role": "user", "content": text, "id": name}

    assert memory.add(said("I live in Oslo."), session_id="s1", user_id="ann").notes == ()
    assert memory.add(said("I live in Bergen."), session_id="s1", user_id="ann").notes == ()
    (note,) = memory.add([said("I live in Rome.")], session_id="s2", user_id="ann").notes
    assert "'s1'" in note and "replaced" in note and note.endswith(" m1")  # noqa: PT018 - of one sentence
    (note,) = memory.add([said("I live in Bonn.")], session_id="s3", user_id="ann", replace=False).notes
    assert "'s2'" in note and "stay" in note and note.endswith(" m1")  # noqa: PT018 - of one sentence
    assert memory.add([said("I live in Rome.")], session_id="s2", user_id="ann", replace=False).notes == ()
    (note,) = memory.add([said("One.", "m2"), said("Two.", "m2")], session_id="s2", user_id="ann").notes
    assert "later" in note and note.endswith(" m2")  # noqa: PT018 - of one sentence
    with pytest.raises(InputError, match="the id 'm1' is not free for this user"):
        memory.add([said("I live in Bern.")], user_id="bob")


def test_a_text_that_has_expired_already_is_told(memory: NeuroGraphMemory) -> None:
    (note,) = memory.add("The code is 12.", expires_at="2020-01-01").notes
    assert "expired" in note


def test_any_id_of_a_text_deletes_the_whole_text_and_a_second_time_nothing(memory: NeuroGraphMemory) -> None:
    text = "\n\n".join(f"Paragraph {i} tells of subject number {i} in some detail, and of {i * 7}." for i in range(60))
    ids, own = memory.add(text), memory.add(text, id="mine")
    assert len(ids) > 2
    assert len(own) > 2
    for name, parts in ((ids[1], ids), (own[1], own)):
        assert [memory.delete_document(name) for _ in range(2)] == [len(parts), 0]
        assert memory.delete(name) == 0
    with pytest.raises(UnknownIdError):
        memory.delete_document("never")
