"""Bodies of wrong, many or large values: they are refused at once, and in few words."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.ingestion.contents import COMPLETIONS, HELD_IN, read_contents
from neurogated.ingestion.formats import SYSTEM
from neurogated.operations import OPERATIONS
from neurogated.server import create_app
from neurogated.server.routes import _without_ids
from tests.ingestion.shapes import SHAPES, Expected

Post = Callable[[str, bytes], httpx.Response]


def filled(before: str, item: str, after: str, size: int = 990_000) -> bytes:
    """Return a body with an item as often as there is room."""
    return (before + ",".join([item] * (size // (len(item) + 1))) + after).encode()


def numbered(before: str, count: int, after: str) -> bytes:
    return (before + ",".join(f'"x{number}":1' for number in range(count)) + after).encode()


@pytest.fixture(scope="module")
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", storage="memory")) as memory:
        yield memory


@pytest.fixture(scope="module")
def post(memory: NeuroGraphMemory) -> Post:
    app = create_app(memory)

    async def send(path: str, body: bytes) -> httpx.Response:
        transport, headers = httpx.ASGITransport(app), {"Content-Type": "application/json"}
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client,
        ):
            return await client.post(path, content=body)

    return lambda path, body: asyncio.run(send(path, body))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories", filled('{"content":[', "1", "]}")),
        ("memories", filled('{"content":[', "{}", "]}")),
        ("memories", filled('{"content":[', '"a"', "]}")),
        ("memories", filled('{"content":"a","tags":[', "1", "]}")),
        ("memories", filled('{"content":"a","tags":[', '"a"', "]}")),
        ("memories", filled('{"content":"a","metadata":{"a":[', "[]", "]}}")),
        ("memories", numbered('{"content":"a",', 90_000, "}")),
        ("memories", filled("[", "[]", "]")),
        ("memories", b"[" * 990_000),
        ("feedback", filled('{"ids":[', "1", "]}")),
        ("mcp", filled('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[', "[]", "]}")),
    ],
)
def test_a_body_of_more_values_than_any_request_needs_is_refused_unread(post: Post, path: str, body: bytes) -> None:
    answer = post("/mcp" if path == "mcp" else f"/v1/{path}", body)
    assert answer.status_code == 413
    assert "more than 50,000 values, or than 20,000 lists and objects" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"content": 5}', "'content' must be a text, a message, or a list of them"),
        (b'{"content": [5]}', "content 1: 5 is neither text nor a message"),
        (filled('{"content":[', "1", "]}", 90_000), "at most 1000 items"),
        (filled('{"content":[', '"a"', "]}", 90_000), "at most 1000 items"),
        (b'{"content": [{"a": 1}]}', "content 1: a message has no role and no content; its keys are 'a'"),
        (filled('{"content":"a","tags":[', "1", "]}", 90_000), "item 1 of 'tags' must be a text"),
        (b'{"content": "a", "importance": "high"}', "'importance' must be a number"),
        (b'{"content": "a", "valid_to": "soon"}', "'valid_to' must be a time"),
        (filled('{"content":"a","tags":[', '"a"', "]}", 90_000), "at most 1000 items"),
        (filled('{"content":"a","path":[', '"a"', "]}", 90_000), "at most 1000 items"),
        (numbered('{"content":"a",', 40_000, "}"), "the body has 40,000 unknown fields; known are content, title"),
        (numbered('{"content":{"role":"user","content":"a",', 40_000, "}}"), "'content' has more than 5,000 values"),
        (b'{"content":' + b'[{"content":' * 200 + b"1" + b"}]" * 200 + b"}", "more than 100 levels"),
        (numbered('{"content":"a","role_map":{', 40_000, "}}"), "'role_map' has more than 1,000 entries"),
        (numbered('{"content":"a","metadata":{', 40_000, "}}"), "has more than 5,000 values"),
        (b'{"content":"a","metadata":' + b'{"a":' * 200 + b"1" + b"}" * 201, "more than 100 levels"),
        (json.dumps({"content": {"content": "a", "role": "r" * 90_000}}).encode(), "the role 'rrr"),
    ],
)
def test_an_error_of_many_values_is_told_once(post: Post, body: bytes, told: str) -> None:
    answer = post("/v1/memories", body)
    assert answer.status_code in {400, 422}
    assert told in answer.json()["error"]["message"]
    assert len(answer.content) < 3_000


@pytest.mark.parametrize(("count", "told"), [(10, 10), (11, 10)])
def test_an_error_tells_ten_wrong_fields_at_most(post: Post, count: int, told: int) -> None:
    fields = [one.name for one in OPERATIONS["add"].doors["POST /memories"] if one.name not in {"content", "metadata"}]
    body = {"content": "a", **{name: {"x": 1} for name in fields[:count]}}
    assert len(body) == count + 1
    message = post("/v1/memories", json.dumps(body).encode()).json()["error"]["message"]
    assert [name for name in fields if f"{name!r} must be" in message] == fields[:told]


@pytest.mark.parametrize(("count", "told"), [(10, 10), (11, 0)])
def test_more_than_ten_unknown_fields_are_counted_and_not_named(post: Post, count: int, told: int) -> None:
    message = post("/v1/memories", numbered('{"content":"a",', count, "}")).json()["error"]["message"]
    assert message.count("is not known here") == told
    assert ("11 unknown fields" in message) == (told == 0)


def _sent(message: object) -> bytes | None:
    """Return the body with a message; None for what is no JSON, such as an object of a library or a pair."""
    try:
        body = json.dumps({"content": message, "session_id": "s"})
    except TypeError:
        return None
    return body.encode() if json.loads(body)["content"] == message else None


SENT = {name: (body, wanted) for name, (message, wanted) in SHAPES.items() if (body := _sent(message))}


# What the formats give is tested beside `read_contents`; a few of them show that the bodies arrive.
@pytest.mark.parametrize(("body", "wanted"), list(SENT.values())[::9], ids=list(SENT)[::9])
def test_messages_of_each_format_are_taken_as_add_takes_them(
    memory: NeuroGraphMemory, post: Post, body: bytes, wanted: Expected | list[Expected]
) -> None:
    stored = map(memory.get, post("/v1/memories", body).json()["ids"])
    found = [(node.kind, node.role, node.content) for node in stored]
    assert found == wanted if isinstance(wanted, list) else found[0] == wanted


def test_blanks_in_a_list_are_skipped_and_told(memory: NeuroGraphMemory, post: Post) -> None:
    said = ["One heron.", "", " ", {"role": "user", "content": ""}, {"role": "user", "content": "Two herons."}]
    answer = post("/v1/memories", json.dumps({"content": said}).encode()).json()
    assert [memory.get(one).content for one in answer["ids"]] == ["One heron.", "Two herons."]
    assert answer["skipped"] == 3
    (note,) = answer["notes"]
    assert note.endswith(": 3, content 2; content 3; content 4")


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Four herons.", "id": "taken"},
        {"role": None, "type": "human", "data": {"content": "Four herons.", "id": "taken"}},
        {"lc": 1, "id": ["messages", "HumanMessage"], "kwargs": {"content": "Four herons.", "id": "taken"}},
        {"choices": [{"message": {"lc": 1, "kwargs": {"id": "taken"}, "content": "Four herons."}}], "id": "c"},
        {"system": {"id": "taken", "content": "Be terse."}, "messages": [("user", "Four herons.")]},
    ],
)
def test_an_id_of_a_message_says_nothing_of_the_memories_of_others(
    memory: NeuroGraphMemory, post: Post, message: object
) -> None:
    memory.add("Ben's secret.", id="taken", user_id="ben")
    answer = post("/v1/memories?user_id=ana", json.dumps({"content": message}).encode()).json()
    assert answer["ids"] != ["taken"]
    assert answer["notes"] == ["ids of messages are left out; these are the new ones"]
    assert memory.get("taken").content == "Ben's secret."


_ID = st.just({"id": "taken"})
_FIELDS = st.fixed_dictionaries({}, optional={"role": st.sampled_from([None, "user"]), "type": st.just("human")})
_SAID = st.builds(lambda about, id_: {"content": "Hi.", **about, **id_}, _FIELDS, _ID)
_ENVELOPES = ("data", "kwargs", "message", "values", *HELD_IN, *SYSTEM, *COMPLETIONS)


def _within(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    held = st.dictionaries(st.sampled_from(_ENVELOPES), inner | st.lists(inner, max_size=2), min_size=1, max_size=2)
    return st.builds(lambda *several: {key: one for some in several for key, one in some.items()}, held, _FIELDS, _ID)


@given(st.recursive(_SAID, _within, max_leaves=6), st.booleans())
def test_no_envelope_gives_a_memory_an_id_of_the_client(content: Any, is_langchain: bool) -> None:  # noqa: ANN401, FBT001
    anonymous = _without_ids({"lc": 1, **content} if is_langchain else content)
    with contextlib.suppress(InputError):
        assert "taken" not in [document.id for document in read_contents(anonymous, {})]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "function_call_output", "call_id": "c", "output": [{"id": 7, "name": "Ana"}]},
        {"type": "function_call_output", "call_id": "c", "output": {"data": {"id": 7}}},
        {"role": "tool", "content": {"messages": [{"id": 7}], "output": {"id": 7}}},
        {"role": "TOOL", "tool_results": [{"outputs": [{"id": 7}]}], "output": {"id": 7}, "data": {"id": 7}},
        {"role": "user", "content": "Hi.", "metadata": {"id": 7}},
    ],
)
def test_the_ids_in_what_a_tool_returned_stay(memory: NeuroGraphMemory, post: Post, message: dict[str, Any]) -> None:
    answer = post("/v1/memories", json.dumps({"content": message}).encode()).json()
    node, (twin,) = memory.get(answer["ids"][0]), memory.add([message], user_id="twin")
    assert (node.content, node.metadata) == (memory.get(twin).content, memory.get(twin).metadata)
    assert "7" in f"{node.content}{node.metadata}"
    assert "notes" not in answer


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories", {"content": "a", "importance": True}),
        ("memories", {"content": "a", "ttl": True}),
        ("recall", {"query": "a", "top_n": True}),
        ("recall", {"query": "a", "min_confidence": False}),
        ("feedback", {"ids": ["a"], "outcome": True}),
    ],
)
def test_a_truth_value_is_no_number(post: Post, path: str, body: dict[str, object]) -> None:
    answer = post(f"/v1/{path}", json.dumps(body).encode())
    assert answer.status_code == 422
    assert f"{[*body][-1]!r} must be " in answer.json()["error"]["message"]


def test_a_fault_in_json_has_a_place_and_a_question_a_longest_length(post: Post) -> None:
    body = b'{"query": "bees" "top_n": 1}'
    message = post("/v1/recall", body).json()["error"]["message"]
    assert "no JSON" in message
    assert str(body.index(b'"top_n"')) in message
    for path in ("recall", "context"):
        assert post(f"/v1/{path}", json.dumps({"query": "a" * 20_000}).encode()).status_code == 422


def test_large_texts_and_many_messages_are_taken(post: Post) -> None:
    code = json.dumps([[1, 2, {"a": '"'}]] * 30_000)
    assert post("/v1/memories", json.dumps({"content": {"content": "a", "name": code[:200_000]}}).encode()).is_success
    messages = [{"role": "user", "content": f"Note {n}."} for n in range(1_000)]
    assert len(post("/v1/memories", json.dumps({"content": messages}).encode()).json()["ids"]) == 1_000
    metadata = {f"key {n}": [n, {"n": n}] for n in range(1_000)}
    assert post("/v1/memories", json.dumps({"content": "Large.", "metadata": metadata}).encode()).is_success
