"""The examples run, each in its own process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.chat_handler import ChatHandler

EXAMPLES = Path(__file__).parents[1] / "examples"


def _run(name: str, *words: str, typed: str = "") -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        input=typed, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_agent_runs_offline_and_learns(tmp_path: Path) -> None:
    out = _run("agent_loop.py", str(tmp_path))
    assert "feedback on" in out
    assert "strengthened" in out


class _Model(ChatHandler):
    """A language model that numbers its answers, and records every prompt."""

    prompts: list[list[dict[str, str]]]

    def answer(self, request: dict[str, Any]) -> None:
        self.prompts.append(request["messages"])
        self.say(f"Answer {len(self.prompts)}.")


@contextmanager
def _model() -> Iterator[tuple[str, list[list[dict[str, str]]]]]:
    _Model.prompts = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", _Model.prompts
        server.shutdown()


def test_the_chat_agent_remembers_an_earlier_session(tmp_path: Path) -> None:
    folder = str(tmp_path / "memory")
    with _model() as (address, prompts):
        assert _run("chat_agent.py", address, "m", folder, typed="My heron is called Ada.\n\n") == "Answer 1.\n"
        assert "Ada" not in prompts[0][0]["content"]
        _run("chat_agent.py", address, "m", folder, typed="What is my heron called?\nThank you.\n")
    assert "My heron is called Ada." in prompts[1][0]["content"]
    assert [message["role"] for message in prompts[2]] == ["system", "user", "assistant", "user"]


@contextmanager
def _service(folder: Path) -> Iterator[str]:
    command = [sys.executable, str(EXAMPLES / "service.py"), str(folder), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        assert address is not None
        yield address[0]
        process.terminate()


def test_the_service_keeps_tenants_and_users_apart(tmp_path: Path) -> None:
    with _service(tmp_path) as address, httpx.Client(base_url=address, timeout=60) as service:
        said = {"content": "My heron is called Ada.", "session": "monday"}
        assert service.post("/acme/ana/messages", json=said).is_success
        asked = "recall?q=What+is+my+heron+called"
        assert service.get(f"/acme/ana/{asked}").json()["memories"][0]["text"] == "My heron is called Ada."
        for other in ("acme/bob", "globex/ana"):
            assert service.get(f"/{other}/{asked}").json()["memories"] == []
        assert service.delete("/acme/ana").json() == {"deleted": True}
        assert service.get(f"/acme/ana/{asked}").json()["memories"] == []


# Importing LangMem takes twenty seconds.
@pytest.mark.parametrize("name", ["langgraph_agent.py", pytest.param("langmem_tools.py", marks=pytest.mark.nightly)])
def test_agents_remember_in_a_store(name: str, tmp_path: Path) -> None:
    assert "Ana's heron is called Ada." in _run(name, str(tmp_path))


def test_a_conversation_fills_three_tiers(tmp_path: Path) -> None:
    out = _run("memoryos.py", str(tmp_path))
    assert "My heron is called Ada." in out
    assert "Music: Bach on the cello (100%)" in out


def test_the_notebook_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile(cell["source"], "tour.ipynb", "exec"), names)  # noqa: S102 - the notebook is ours
    assert "edges are stronger now" in capsys.readouterr().out


def test_a_container_would_serve_with_the_command_the_settings_and_the_check_of_its_files(tmp_path: Path) -> None:
    """What a container would run is run without one, since the tests bring no engine for containers."""
    check, command = (
        [word.replace("/memory", str(tmp_path)).replace("python", sys.executable) for word in json.loads(found)]
        for found in re.findall(r"CMD (\[.*\])", (EXAMPLES / "Dockerfile").read_text())
    )
    services = yaml.safe_load((EXAMPLES / "compose.yml").read_text())["services"]
    given = {
        name: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value) for name, value in services["memory"]["environment"].items()
    }
    settings = {**os.environ, **given, "NEUROGATED_SAVE_DIR": str(tmp_path), "NEUROGATED_EMBEDDING_NAME": "hash"}
    command[:1] = [sys.executable, "-m", "neurogated"]
    made = subprocess.run([*command, "--new_key"], env=settings, capture_output=True, text=True, check=True)
    key = {"Authorization": f"Bearer {made.stdout.strip()}"}
    process = subprocess.Popen([*command, "--port", "0"], env=settings, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip().rpartition(":")[2]
        healthy = subprocess.run([word.replace("8420", port) for word in check], check=False)
        url = f"http://127.0.0.1:{port}/v1/memories"
        answer = httpx.post(url, json={"content": "The barn burned."}, headers=key)
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert healthy.returncode == 0
    assert answer.status_code == 201, answer.text
    for name, service in services.items():
        assert name == "memory" or service["profiles"] == [name]
        assert name == "memory" or services["memory"]["depends_on"][name]["required"] is False
