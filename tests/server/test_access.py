"""Who may ask a server, and what a key shows."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.served import COMMAND, Servers, client


@pytest.fixture(scope="module")
def holders(servers: Servers) -> Iterator[dict[str, httpx.Client]]:
    keys = {name: servers.key("--user_id", name) for name in ("ana", "ben")} | {"all": servers.key()}
    url = servers.start("--host", "0.0.0.0", "--body", "10000")  # noqa: S104 - with keys
    url = url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
    found = {name: client(url, key) for name, key in keys.items()} | {"nobody": client(url)}
    yield found
    for one in found.values():
        one.close()


def test_a_second_user_sees_nothing_of_the_first(servers: Servers, holders: dict[str, httpx.Client]) -> None:
    ana, ben = holders["ana"], holders["ben"]
    untouched = {path: ben.get(path).json() for path in ("/v1/memories", "/v1/facts", "/v1/history")}
    secret = ana.post("/v1/memories", json={"content": "My birthday is on 3 May."}).json()["ids"][0]
    servers.state("ana", "birthday", "3 May", "4 June")
    conflict = ana.get("/v1/conflicts?status=all").json()[0]["id"]
    assert untouched == {path: ben.get(path).json() for path in untouched}
    assert ben.get("/v1/conflicts?status=all").json() == []
    assert ben.post("/v1/recall", json={"query": "When is my birthday?"}).json()["memories"] == []
    for known, unknown in ((secret, "chunk-" + "0" * 32), (conflict, "conflict-" + "0" * 32)):
        for method, path, body in (
            ("GET", "/v1/memories/{}", None),
            ("PATCH", "/v1/memories/{}", {"content": "mine"}),
            ("DELETE", "/v1/memories/{}", None),
            ("POST", "/v1/conflicts/{}/resolve", {"keep": "both"}),
            ("GET", "/v1/memories?cursor={}", None),
        ):
            answers = [ben.request(method, path.format(one), json=body) for one in (known, unknown)]
            texts = {str(one.json()["error"]["message"]).replace(known, unknown) for one in answers}
            assert len(texts) == 1
            assert {one.status_code for one in answers} <= {400, 404}
    assert ben.post("/v1/feedback", json={"ids": [secret]}).status_code == 404
    for path in ("/v1/memories", "/v1/history"):
        cursor = ana.get(path, params={"limit": 1}).json()["cursor"]
        assert ben.get(path, params={"cursor": cursor}).status_code == 400
    assert ben.post("/v1/undo").json() == {"undone": False, "memories": []}
    assert ben.delete("/v1/memories").json() == {"count": 0}
    assert ben.get("/metrics").status_code == 403
    assert ben.get("/v1/memories?user_id=ana").status_code == 403
    assert ana.get(f"/v1/memories/{secret}").status_code == 200


def test_a_key_for_all_users_names_the_user(holders: dict[str, httpx.Client]) -> None:
    both = holders["all"]
    added = both.post("/v1/memories?user_id=cid", json={"content": "Cid plays chess."}).json()["ids"][0]
    assert both.get(f"/v1/memories/{added}?user_id=cid").status_code == 200
    assert both.get(f"/v1/memories/{added}").status_code == 404
    assert both.get("/v1/history").json()["changes"][0]["sequence"] > 0
    metrics = both.get("/metrics").text
    assert 'route="/memories/{memory_id}"' in metrics
    assert added not in metrics


def test_a_key_of_a_user_reads_shared_memories_but_does_not_change_them(holders: dict[str, httpx.Client]) -> None:
    shared = holders["all"].post("/v1/memories", json={"content": "The office opens at nine."}).json()["ids"][0]
    assert holders["ana"].get(f"/v1/memories/{shared}").status_code == 200
    assert holders["ana"].delete(f"/v1/memories/{shared}").status_code == 403
    assert holders["all"].delete(f"/v1/memories/{shared}").status_code == 200


def test_without_a_key_only_health_answers(holders: dict[str, httpx.Client]) -> None:
    nobody = holders["nobody"]
    assert nobody.get("/health").json()["status"] == "ok"
    for path in ("/v1/memories", "/v1/history", "/metrics"):
        assert nobody.get(path).status_code == 401
        assert nobody.get(path, headers={"Authorization": "Bearer ng-wrong"}).status_code == 401


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_refused(holders: dict[str, httpx.Client], *, chunked: bool) -> None:
    body = b'{"content": "' + b"a" * 20_000 + b'"}'
    content = iter([body]) if chunked else body
    answer = holders["ana"].post("/v1/memories", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["error"]["request_id"]


def test_the_file_of_keys_has_hashes_only(holders: dict[str, httpx.Client], servers: Servers) -> None:
    file = servers.folder / "server_keys.json"
    assert holders["ana"].headers["Authorization"].partition(" ")[2] not in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o077 == 0


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with Servers(tmp_path_factory.mktemp("local")) as found, client(found.start("--rate", "5")) as one:
        yield one


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80@127.0.0.1"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 422),
    ],
)
def test_a_page_of_another_origin_cannot_write(local: httpx.Client, headers: dict[str, str], status: int) -> None:
    body = {"Content-Type": "application/json", **headers}
    answer = local.post("/v1/memories", content=b'{"content": "Planted."}', headers=body)
    assert answer.status_code == status
    assert local.get("/v1/memories").json()["memories"] == []


def test_more_requests_than_the_rate_are_refused(local: httpx.Client) -> None:
    assert 429 in {local.get("/v1/memories").status_code for _ in range(30)}


def test_another_host_needs_keys(tmp_path: Path) -> None:
    words = [*COMMAND, "--save_dir", str(tmp_path), "--host", "0.0.0.0"]  # noqa: S104 - refused
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--new_key" in done.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_what_was_acknowledged_is_there_after_a_stop(how: signal.Signals, tmp_path: Path) -> None:
    with Servers(tmp_path) as servers:
        with client(servers.start()) as one:
            ids = [one.post("/v1/memories", json={"content": f"Note {n}."}).json()["ids"][0] for n in range(5)]
        code, errors = servers.stop(how)
        assert (code, "Traceback" in errors) == (0, False), errors
        with client(servers.start()) as one:
            assert [found["id"] for found in one.get("/v1/memories").json()["memories"]] == ids
