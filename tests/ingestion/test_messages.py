"""Messages are stored: their texts as text, their other parts as metadata. See `test_shapes` for the formats."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, get_args

import anthropic.types.beta
import pytest
from openai.types.responses import response_output_item

from neurogated import MemoryConfig, NeuroGraphMemory, compose
from neurogated.errors import InputError
from neurogated.ingestion.messages import read_message
from neurogated.testing import ManualClock

CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lyon"}'}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 90_000}}


@pytest.mark.parametrize(
    ("message", "role", "text"),
    [
        (
            {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL], "refusal": None},
            "assistant",
            "Let me look.",
        ),
        ({"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"}, "tool", "18 degrees"),
        ({"role": "user", "content": [{"type": "text", "text": "See:"}, IMAGE]}, "user", "See:"),
        ({"role": "user", "content": ["One.", {"type": "input_text", "text": "Two."}]}, "user", "One.\nTwo."),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                    {"type": "text", "text": "I will look."},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Lyon"}},
                ],
            },
            "assistant",
            "I will look.",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "18 degrees"}]},
            "tool",
            "18 degrees",
        ),
    ],
)
def test_the_text_of_a_message_is_stored_under_its_role(
    memory: NeuroGraphMemory, message: dict[str, Any], role: str, text: str
) -> None:
    name, *_ = memory.add(message, session_id="s")
    node = memory.get(name)
    assert (node.kind, node.role, node.content) == ("turn", role, text)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "tool_calls": [CALL]},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "assistant", "content": "  ", "tool_calls": [CALL]},
        {"role": "assistant", "content": None, "function_call": CALL["function"]},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "weather", "args": {"city": "Lyon"}, "id": "1"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Lyon"}}],
        },
        {"type": "function_call", "call_id": "1", "name": "weather", "arguments": '{"city": "Lyon"}'},
    ],
)
def test_calls_of_tools_are_a_memory_of_their_own_kind(memory: NeuroGraphMemory, message: dict[str, Any]) -> None:
    (name,) = memory.add(message, session_id="s", user_id="ana")
    node = memory.get(name)
    assert (node.kind, node.role, node.content) == ("call", "assistant", 'weather(city="Lyon")')
    said = {"id": "m", "role": "assistant", "content": "I look.", "tool_calls": [CALL, CALL]}
    text, call = memory.add(said, session_id="s", user_id="ana")
    assert (memory.get(text).content, memory.get(call).content) == ("I look.", node.content)
    assert memory.add(said, session_id="s", user_id="ana") == [text, call]
    assert memory.count(user_id="ana") == 3


def test_a_call_of_a_tool_may_be_an_event(memory: NeuroGraphMemory) -> None:
    for content, text in ((None, 'weather(city="Lyon")'), ("I look.", "I look.")):
        event: Any = {"role": "assistant", "content": content, "tool_calls": [CALL]}
        (name,) = memory.record_event(event, user_id="ana")
        assert (memory.get(name).kind, memory.get(name).content) == ("event", text)


def test_a_long_or_broken_call_is_one_short_line(memory: NeuroGraphMemory) -> None:
    for arguments in ("A" * 90_000, '{"text": "' + "line\\n" * 9_000 + '"}', "{not json\n", "[1]", "\0"):
        called = {"type": "function_call", "call_id": "1", "name": "write", "arguments": arguments}
        (name,) = memory.add(called, session_id="s")
        content = memory.get(name).content
        assert content.startswith("write(")
        assert len(content.splitlines()) == 1
        assert len(content) < 500


def test_an_output_of_the_responses_api_has_the_role_of_a_tool(memory: NeuroGraphMemory) -> None:
    outputs = ("18 degrees", [{"type": "input_text", "text": "18 degrees"}])
    for output in outputs:
        (name,) = memory.add({"type": "function_call_output", "call_id": "1", "output": output}, session_id="s")
        assert (memory.get(name).role, memory.get(name).content) == ("tool", "18 degrees")


@pytest.mark.parametrize(
    ("part", "note"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x/y.png", "alt": "a red barn"}}, "[image: a red barn]"),
        (
            {"type": "image", "alt_text": "a red barn", "source": {"type": "base64", "data": "AA"}},
            "[image: a red barn]",
        ),
        ({"type": "document", "title": "Lease", "source": {"type": "url", "url": "x"}}, "[document: Lease]"),
        ({"type": "input_file", "filename": "lease.pdf", "file_data": "AA"}, "[file: lease.pdf]"),
    ],
)
def test_an_image_with_an_alternative_text_is_a_note(memory: NeuroGraphMemory, part: dict[str, Any], note: str) -> None:
    (name,) = memory.add({"role": "user", "content": [{"type": "text", "text": "See:"}, part]})
    assert memory.get(name).content == f"See:\n{note}"
    assert memory.get(name).metadata["message"]["parts"] == [part]


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


@pytest.mark.parametrize("message", [{"role": "assistant", "content": None}, {"role": "user", "content": []}])
def test_a_message_without_text_is_no_memory_and_no_error(memory: NeuroGraphMemory, message: dict[str, Any]) -> None:
    assert memory.add([message, {"role": "user", "content": "Thanks."}], session_id="s") == [
        node.id for node in memory.list()
    ]
    assert memory.count() == 1


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


def test_a_message_of_an_image_is_a_placeholder_that_keeps_it(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add({"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]})
    node = memory.get(name)
    assert (node.kind, node.role, node.content) == ("placeholder", "user", "[image]")
    assert node.metadata["message"]["parts"][0]["source"]["url"] == "x"


def test_a_result_of_a_tool_beside_a_text_is_nobodys(memory: NeuroGraphMemory) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "18 degrees"}
    text, other = map(
        memory.get, memory.add({"role": "user", "content": [result, {"type": "text", "text": "Thanks."}]})
    )
    assert (text.role, text.content, text.metadata["message"]["parts"]) == ("user", "Thanks.", [result])
    assert (other.role, other.content, other.metadata) == ("tool", "18 degrees", {})


@pytest.mark.parametrize("part", [{(1, 2): 3}, {1, 2}])
def test_a_part_that_is_no_json_stops_no_message(memory: NeuroGraphMemory, part: object) -> None:
    memory.add({"role": "assistant", "content": "Done.", "tool_calls": [part]})
    assert memory.count() == 1


def test_an_object_of_a_client_is_read_as_its_fields(config: MemoryConfig) -> None:
    said = SimpleNamespace(model_dump=lambda: {"role": "assistant", "content": "Hello.", "audio": None})
    with NeuroGraphMemory(config) as memory:
        (name,) = memory.add(said)  # type: ignore[arg-type]
        assert memory.get(name).content == "Hello."


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


def test_a_message_that_has_expired_is_not_recalled(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add({"role": "user", "content": "The safe code is 4711.", "expires_at": "2020-01-01"})
        assert len(memory.recall("What is the safe code?")) == 0


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


def test_the_placeholder_of_a_nameless_agent_is_no_speaker(config: MemoryConfig) -> None:
    said = {"role": "assistant", "author_name": "UnnamedAgent", "contents": [{"type": "text", "text": "Hello."}]}
    with NeuroGraphMemory(config) as memory:
        assert memory.get(memory.add(said)[0]).speaker is None


def test_a_pair_of_a_role_and_a_text_is_a_message(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add(("user", "I live in Lyon."))
        memory.add([("human", "I like tea."), ("ai", "Noted.")])
        memory.add(["One text.", "Another."])
        said = [(node.role, node.content) for node in memory.find()]
    assert said == [
        ("user", "I live in Lyon."),
        ("user", "I like tea."),
        ("assistant", "Noted."),
        (None, "One text."),
        (None, "Another."),
    ]


def test_a_pair_of_a_role_of_the_callers_own_is_a_message_and_never_two_texts(memory: NeuroGraphMemory) -> None:
    (name,) = memory.add(("customer", "Where is my parcel?"), role_map={"customer": "user"})
    (other,) = memory.add([["user", "It came today."]])  # type: ignore[list-item]  # as JSON has it
    said = [(memory.get(one).role, memory.get(one).content) for one in (name, other)]
    assert said == [("user", "Where is my parcel?"), ("user", "It came today.")]
    with pytest.raises(InputError, match="role_map"):
        memory.add(("customer", "Hello."))


@pytest.mark.parametrize("session", [None, "monday"])
def test_a_text_that_comes_after_calls_or_a_placeholder_with_its_id_is_a_text(
    memory: NeuroGraphMemory, session: str | None
) -> None:
    owner: Any = {"session_id": session} if session else {}
    memory.add({"role": "assistant", "id": "x", "tool_calls": [CALL]}, **owner)
    memory.add({"role": "user", "id": "y", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}, **owner)
    assert [memory.get(one).kind for one in "xy"] == ["call", "placeholder"]
    for one, text in (("x", "The weather is fine."), ("y", "A picture of the barn.")):
        memory.add({"role": "user", "id": one, "content": text}, **owner)
        assert memory.get(one).kind == ("turn" if session else "episode")
        assert one in memory.recall(text).ids


def test_the_calls_and_results_of_a_message_go_with_it(memory: NeuroGraphMemory) -> None:
    call = {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Lyon"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "18 degrees"}
    full = {"id": "m", "role": "assistant", "content": ["I look.", call, result]}
    three = ["m", "m#call", "m#result"]
    assert memory.add(full) == memory.add(full) == three
    memory.update("m", tags=["sky"])
    assert [memory.get(one).tags for one in three] == [("sky",)] * 3
    memory.add({"id": "m", "role": "assistant", "content": ["I looked.", call]})
    assert [node.id for node in memory.list()] == ["m", "m#call"]
    memory.undo()
    assert [node.id for node in memory.list()] == three
    assert memory.delete("m") == 3
    assert memory.count() == 0
    memory.add([full, "The barn burned."])
    assert memory.delete_document("m") == 3
    with pytest.raises(InputError, match="ends like"):
        memory.add("A text.", id="n#call")


@pytest.mark.parametrize("bad", ["\ufeff", "\ufeff ", [{"type": "text", "text": "\ufeff"}]])
def test_a_lone_byte_order_mark_is_blank_and_costs_no_other_message(
    memory: NeuroGraphMemory, bad: str | list[object]
) -> None:
    report = memory.add(["One.", {"role": "user", "content": bad}, "\ufeff", "Two."])
    assert [memory.get(one).content for one in report] == ["One.", "Two."]
    assert report.skipped == 2


def test_odd_characters_of_a_name_are_repaired_and_told(memory: NeuroGraphMemory) -> None:
    report = memory.add(["One.", {"role": "user", "name": "A\0n\ud83d", "content": "Two."}])
    assert [memory.get(one).speaker for one in report] == [None, "A\ufffdn\ufffd"]
    assert "U+FFFD" in report.notes[0]


def _objects(**fields: object) -> SimpleNamespace:
    return SimpleNamespace(**{key: _objects(**one) if isinstance(one, dict) else one for key, one in fields.items()})


def test_calls_given_as_objects_are_read_and_calls_that_say_nothing_leave_a_placeholder(
    memory: NeuroGraphMemory,
) -> None:
    message = SimpleNamespace(role="assistant", content=None, tool_calls=[_objects(**CALL)])
    (name,) = memory.add(message)  # type: ignore[arg-type]
    assert memory.get(name).content == 'weather(city="Lyon")'
    (name,) = memory.add({"role": "assistant", "content": None, "tool_calls": [{}]})
    assert (memory.get(name).kind, memory.get(name).metadata["message"]) == ("placeholder", {"tool_calls": [{}]})


@pytest.mark.parametrize(
    ("beside", "shown"),
    [
        ({"images": ["AAAA"]}, "[image]"),
        ({"attachments": [{"file_id": "file-1", "tools": [{"type": "file_search"}]}]}, "[file]"),
        ({"experimental_attachments": [{"name": "lease.pdf", "contentType": "application/pdf"}]}, "[file: lease.pdf]"),
        ({"reasoning_content": "I should ask."}, "[reasoning]"),
        ({"audio": {"id": "audio-1"}}, "[audio]"),
    ],
)
def test_what_stands_beside_an_empty_content_is_kept(
    memory: NeuroGraphMemory, beside: dict[str, Any], shown: str
) -> None:
    (name,) = memory.add({"role": "user", "content": "", **beside})
    node = memory.get(name)
    assert (node.content, node.metadata["message"]) == (shown, beside)
    (name,) = memory.add({"role": "user", "content": "See here.", **beside})
    assert memory.get(name).content.splitlines()[0] == "See here."


def test_a_generated_image_of_the_responses_api_is_kept(memory: NeuroGraphMemory) -> None:
    item = {"type": "image_generation_call", "id": "i", "status": "completed", "result": "AAAA"}
    _, name = memory.add([{"type": "message", "role": "user", "content": "Draw."}, item])
    assert (memory.get(name).role, memory.get(name).kind) == ("assistant", "placeholder")


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
    assert report.notes == ("beside the messages, nobody reads 'tools'",)


def test_equal_parts_and_deep_results_are_all_kept(memory: NeuroGraphMemory) -> None:
    part = {"type": "text", "text": "Ha!"}
    assert memory.get(memory.add({"role": "user", "content": [part, part]})[0]).content == "Ha!\nHa!"
    twice = {"role": "assistant", "content": "Ha!", "parts": [part]}
    assert memory.get(memory.add(twice)[0]).content == "Ha!"
    deep: Any = "the words"
    for _ in range(40):
        deep = [{"type": "tool_result", "content": deep}]
    assert "the words" in memory.get(memory.add({"role": "tool", "content": deep})[0]).content


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


def test_a_new_message_takes_the_parts_of_the_old_one_away(memory: NeuroGraphMemory) -> None:
    memory.add({**TOGETHER, "id": "y"})
    assert memory.add({"role": "assistant", "content": "Nothing to see.", "id": "y"}) == ["y"]
    assert [node.id for node in memory.list()] == ["y"]
    memory.undo()
    assert {"y", "y#call", "y#result"} <= {node.id for node in memory.list()}
    memory.delete_document("y")
    assert memory.count() == 0
    with pytest.raises(InputError, match="ends like"):
        memory.add("Mine.", id="z#call")


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
        ({"reasoning_content": "Hm."}, "[reasoning]"),
        ({"tool_plan": "I will look."}, "[tool_plan]"),
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


def test_objects_within_a_message_are_read(memory: NeuroGraphMemory) -> None:
    look = SimpleNamespace(id="1", function=SimpleNamespace(name="look", arguments='{"at": "sea"}'))
    image = SimpleNamespace(type="image", source=SimpleNamespace(type="url", url="u"), title="a barn")
    said: Any = SimpleNamespace(role="assistant", content=[SimpleNamespace(text="See:"), image], tool_calls=[look])
    assert [memory.get(name).content for name in memory.add(said)] == ["See:\n[image: a barn]", 'look(at="sea")']


def test_what_is_said_twice_is_stored_twice_and_copies_once(memory: NeuroGraphMemory) -> None:
    ha = {"type": "text", "text": "ha"}
    roll = {"type": "tool_use", "id": "1", "name": "roll", "input": {}}
    for message, texts in (
        ({"role": "user", "content": [ha, ha]}, ["ha\nha"]),
        ({"role": "assistant", "tool_calls": [called("roll"), called("roll")]}, ["roll()\nroll()"]),
        ({"role": "user", "content": "haha", "parts": [ha, ha]}, ["ha\nha"]),
        ({"role": "ai", "content": [ha, roll], "tool_calls": [called("roll", id="1")]}, ["ha", "roll()"]),
        ({"role": "assistant", "content": "Short.", "refusal": "No."}, ["Short.\nNo."]),
    ):
        assert [memory.get(name).content for name in memory.add(message)] == texts


def test_what_is_too_long_or_stands_beside_a_list_is_reported(memory: NeuroGraphMemory) -> None:
    long = called("write", '{"text": "' + "word " * 2_000 + '"}')
    message: dict[str, Any] = {"role": "assistant", "content": "Done.", "tool_calls": [long]}
    (note,) = memory.add(message).notes
    assert "only the length" in note
    assert memory.add({**message, "original": long}).notes == ()
    deep: dict[str, Any] = {"type": "tool_result", "content": "deep words"}
    for _ in range(40):
        deep = {"type": "tool_result", "content": [deep]}
    assert memory.get(memory.add({"role": "user", "content": [deep]})[0]).content == "deep words"
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InputError, match="within each other"):
        memory.add({"role": "user", "content": endless})
    state = {"messages": [{"role": "user", "content": "Hi."}], "system": "You are Zed.", "summary": "Old.", "x": None}
    added = memory.add(state)
    assert [(memory.get(name).role, memory.get(name).content) for name in added] == [
        ("system", "You are Zed."),
        ("user", "Hi."),
    ]
    (note,) = added.notes
    assert "'summary'" in note


def test_the_first_text_of_a_tuple_of_two_is_a_role(memory: NeuroGraphMemory) -> None:
    pair, roles = ("Customer ", "Hello."), {"customer": "user"}
    for content in (pair, [pair]):
        (name,) = memory.add(content, role_map=roles)
        assert (memory.get(name).role, memory.get(name).content) == ("user", "Hello.")
        with pytest.raises(InputError, match="'Customer '"):
            memory.add(content)
    assert memory.count() == 1


def test_an_owner_in_a_message_is_not_followed_and_is_told(memory: NeuroGraphMemory) -> None:
    report = memory.add({"role": "user", "content": "I keep bees.", "user_id": "bob", "importance": 1})
    node = memory.get(report[0])
    assert (node.scope.user_id, node.metadata["message"]) == (None, {"user_id": "bob", "importance": 1})
    assert [note.split(",")[0] for note in report.notes] == [
        "1 of the texts is with 'importance'",
        "1 of the texts is with 'user_id'",
    ]
