"""Every command and example of the README and of docs works, the examples run, and lists agree with the code."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

import neurogated
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.archive.foreign import FORMATS
from neurogated.cli import main
from tests.chat_handler import ChatHandler

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs").glob("[hm]*/*.md"))]
DATABASE = "postgresql://localhost/memories"
"""The address in examples; tests put that of a real server in its place."""
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}


def _blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXTS[name], flags=re.MULTILINE | re.DOTALL)


def _pages_with(language: str) -> list[str]:
    return [name for name in TEXTS if _blocks(name, language)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run examples in a folder of their own, with settings that keep them fast. Flags override these."""
    for name in ("main.py", "dataset"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setenv("NEUROGATED_EMBEDDING_NAME", "hash")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(line: str) -> int:
    """Run a command line in this process, because starting Python takes longer than most commands."""
    words = shlex.split(line, comments=True)
    assert words[0] == "neurogated" or words[:2] == ["python", "main.py"], line
    return main(words[1:] if words[0] == "neurogated" else words[2:])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", _pages_with("bash"))
def test_the_commands_of_a_page_run_one_after_the_other(
    name: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres").database() if DATABASE in TEXTS[name] else DATABASE
    for line in "".join(_blocks(name, "bash")).splitlines():
        there = line.replace(f"{DATABASE}?", f"{url}&").replace(DATABASE, url)
        assert _run(there) == 0, f"{line}: {capsys.readouterr().err}"
        assert capsys.readouterr().out, line


def test_the_first_command_of_a_page_runs_in_a_process_of_its_own(folder: Path) -> None:
    line = _blocks("docs/index.md", "bash")[0].splitlines()[0]
    done = subprocess.run(shlex.split(line), capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("default::neurogated.session.fallback.FallbackWarning")
@pytest.mark.parametrize("name", _pages_with("python"))
def test_the_examples_of_a_page_run_one_after_the_other(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each prints what stands below it, if there is anything."""
    names, said = {"__name__": "__main__"}, ""
    pattern = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?"
    for code, shown in re.findall(pattern, TEXTS[name], flags=re.MULTILINE | re.DOTALL):
        exec(compile(code, name, "exec"), names)  # noqa: S102 - the page is ours
        printed = capsys.readouterr().out
        assert shown in ("", printed), name
        said += printed
    assert said, name


@pytest.mark.parametrize("name", _pages_with("py(?:thon)?"))
def test_each_example_imports_what_it_uses(name: str) -> None:
    """A reader copies one block, and the objects that the page has made before; `py` has code that is not run here."""
    known = set(dir(builtins))
    for code in _blocks(name, "py(?:thon)?"):
        nodes = list(ast.walk(ast.parse(code)))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        aliases = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
        known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        known |= {
            node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
        }
        imported = {alias.asname or alias.name for alias in aliases}
        assert {node.id for node in names} <= known | imported, code


@pytest.mark.parametrize("name", TEXTS)
def test_every_extra_that_a_page_names_exists(name: str) -> None:
    assert set(re.findall(r"neurogated\[([\w-]+)\]", TEXTS[name])) <= EXTRAS.keys()


def test_the_reference_has_every_public_name() -> None:
    listed = re.findall(r"^::: neurogated\.(\w+)$", TEXTS["docs/reference.md"], flags=re.MULTILINE)
    public = {*dir(neurogated), "errors"} - {"__version__"}
    assert sorted(listed) == sorted(public)


def test_every_format_that_can_be_imported_has_a_row() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|", TEXTS["docs/how-to/bringing.md"], flags=re.MULTILINE)
    assert sorted(rows) == sorted(["--from", *FORMATS])


@pytest.mark.parametrize("mode", ["gated", "classic"])
def test_every_part_of_a_score_is_explained(mode: str) -> None:
    explained = set(re.findall(r"^\| `(\w+)` \|", TEXTS["docs/concepts.md"], flags=re.MULTILINE))
    config = MemoryConfig(storage="memory", embedding_name="hash", ACTIVATION=mode)
    with NeuroGraphMemory(config) as memory:
        memory.add(["A heron.", "A swan."], session_id="s")
        (first, *_) = memory.recall("Where is the heron?")
    assert {*first.parts, *first.contributions} <= explained


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for_models = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    for name in TEXTS:
        if name.startswith("docs/"):
            assert f": {name.removeprefix('docs/')}\n" in navigation, name
            assert f"({name.removeprefix('docs/')})" in for_models, name


@pytest.mark.parametrize("name", TEXTS)
def test_links_within_the_project_lead_somewhere(name: str) -> None:
    here = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXTS[name]):
        assert target.startswith("http") or (here / target).exists(), target


@pytest.mark.parametrize("name", ["DESIGN.md", "CLAUDE.md"])
def test_every_file_and_every_setting_that_the_design_names_exists(name: str) -> None:
    text, package = (ROOT / name).read_text(encoding="utf-8"), ROOT / "src" / "neurogated"
    for path in re.findall(r"`([\w-]+(?:/[\w-]+)*/(?:[\w*-]+\.\w+)?|[\w-]+\.(?:py|txt))`", text):
        assert any(any(folder.glob(path)) for folder in (ROOT, package, *package.glob("*/"))), path
    config = MemoryConfig()
    names = [field.name for field in dataclasses.fields(config)]
    groups = [one for one in names if dataclasses.is_dataclass(getattr(config, one))]
    for group, setting in re.findall(rf"`({'|'.join(groups)})\.(\w+)[`=]", text):
        assert hasattr(getattr(config, group), setting), f"{group}.{setting}"


FINDINGS = Path(__file__).parents[1] / "findings"
SCRIPTS = [script for script in sorted(FINDINGS.glob("*.sh")) if script.name != "run.sh"]


def _said(script: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+): (.+)$", script.read_text(), re.MULTILINE))


def test_the_index_lists_each_finding_with_what_its_script_says() -> None:
    rows = re.findall(r"^\| (.+) \| \[(.+)\]\((.+)\) \| (.+) \|$", (FINDINGS / "INDEX.md").read_text(), re.MULTILINE)
    heads = [(_said(script), script) for script in SCRIPTS]
    listed = [(said["Package"].split(",")[0], of.stem, of.name, said["Behaviour"]) for said, of in heads]
    assert sorted(rows) == sorted(listed)


EXAMPLES = Path(__file__).parents[1] / "examples"


def _started(name: str, *words: str, typed: str = "") -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words],
        input=typed, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_agent_runs_offline_and_learns(tmp_path: Path) -> None:
    out = _started("agent_loop.py", str(tmp_path))
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
        assert _started("chat_agent.py", address, "m", folder, typed="My heron is called Ada.\n\n") == "Answer 1.\n"
        assert "Ada" not in prompts[0][0]["content"]
        _started("chat_agent.py", address, "m", folder, typed="What is my heron called?\nThank you.\n")
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
    assert "Ana's heron is called Ada." in _started(name, str(tmp_path))


def test_a_conversation_fills_three_tiers(tmp_path: Path) -> None:
    out = _started("memoryos.py", str(tmp_path))
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
