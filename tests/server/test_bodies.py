"""Bodies of wrong, many or large values: they are refused at once, and in few words."""

import asyncio
import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.mcp import bodies
from neurogated.server import create_app

Post = Callable[[str, bytes], httpx.Response]
VALUES = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\,[{é'), lambda of: st.lists(of) | st.dictionaries(st.text(), of)
)


def filled(before: str, item: str, after: str, size: int = 990_000) -> bytes:
    """Return a body with an item as often as there is room."""
    return (before + ",".join([item] * (size // (len(item) + 1))) + after).encode()


def numbered(before: str, count: int, after: str) -> bytes:
    return (before + ",".join(f'"x{number}":1' for number in range(count)) + after).encode()


@pytest.fixture(scope="module")
def post() -> Iterator[Post]:
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", storage="memory")) as memory:
        app = create_app(memory)

        async def send(path: str, body: bytes) -> httpx.Response:
            transport, headers = httpx.ASGITransport(app), {"Content-Type": "application/json"}
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client,
            ):
                return await client.post(path, content=body)

        yield lambda path, body: asyncio.run(send(path, body))


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
        (filled('{"content":[', "1", "]}", 90_000), "'content': "),
        (filled('{"content":[', '"a"', "]}", 90_000), "at most 1000 items"),
        (filled('{"content":[', '{"a":1}', "]}", 90_000), "'content' is missing"),
        (filled('{"content":"a","tags":[', "1", "]}", 90_000), "'tags': input should be a valid string"),
        (filled('{"content":"a","tags":[', '"a"', "]}", 90_000), "at most 1000 items"),
        (filled('{"content":"a","path":[', '"a"', "]}", 90_000), "at most 1000 items"),
        (numbered('{"content":"a",', 40_000, "}"), "the body has 40,000 unknown fields; known are content, title"),
        (numbered('{"content":{"content":"a",', 40_000, "}}"), "40,000 unknown fields; known are content, role"),
        (numbered('{"content":"a","role_map":{', 40_000, "}}"), "'role_map': has more than 1,000 entries"),
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


def test_half_an_emoji_is_replaced(post: Post) -> None:
    assert post("/v1/memories", b'{"content":"Half \\ud83d, whole \\ud83d\\ude00."}').is_success
    found = post("/v1/recall", b'{"query":"\\ud83d half whole"}').json()
    assert "Half \ufffd, whole \U0001f600." in [one["node"]["content"] for one in found["memories"]]


def test_ten_wrong_fields_are_told_at_most(post: Post) -> None:
    wrong = {"content": 1, **dict.fromkeys(("title", "metadata", "timestamp", "valid_from", "valid_to", "tags"), 1)}
    wrong |= {"importance": 2, "ttl": -1, "session_id": 1, "agent_id": 1, "path": 1, "role_map": 1, "other": 1}
    message = post("/v1/memories", json.dumps(wrong).encode()).json()["error"]["message"]
    assert 1 < message.count("': ") <= 10


def test_large_texts_and_many_messages_are_taken(post: Post) -> None:
    code = json.dumps([[1, 2, {"a": '"'}]] * 30_000)
    assert post("/v1/memories", json.dumps({"content": {"content": "a", "name": code[:200_000]}}).encode()).is_success
    messages = [{"role": "user", "content": f"Note {n}."} for n in range(1_000)]
    assert len(post("/v1/memories", json.dumps({"content": messages}).encode()).json()["ids"]) == 1_000
    metadata = {f"key {n}": [n, {"n": n}] for n in range(1_000)}
    assert post("/v1/memories", json.dumps({"content": "Large.", "metadata": metadata}).encode()).is_success


def _counted(value: object) -> tuple[int, int]:
    """Return how many values there are, and how many lists and objects among them."""
    if isinstance(value, dict):
        parts = [*map(_counted, value), *map(_counted, value.values())]
    elif isinstance(value, list):
        parts = list(map(_counted, value))
    else:
        return 1, 0
    return 1 + sum(values for values, _ in parts), 1 + sum(groups for _, groups in parts)


@given(VALUES)
def test_values_are_counted_whatever_their_texts_contain(value: object) -> None:
    body = json.dumps(value).encode()
    values, groups = _counted(value)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bodies, "_MOST_VALUES", values)
        patched.setattr(bodies, "_MOST_GROUPS", groups)
        assert bodies.too_many(body) is None
        patched.setattr(bodies, "_MOST_GROUPS", max(groups - 1, 0))
        assert (bodies.too_many(body) is None) == (not groups)
        patched.setattr(bodies, "_MOST_GROUPS", groups)
        patched.setattr(bodies, "_MOST_VALUES", values // 4 - 2)
        assert bodies.too_many(body) is not None or values < 8
