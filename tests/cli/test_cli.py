"""The command line: exit codes, output, help, sources of settings, the ways to start it, and a server."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import httpx
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from neurogated.cli.app import COMMANDS
from neurogated.config.setting import settings_of
from neurogated.errors import StorageError
from neurogated.session.compose import OFFLINE_NOTICE

ROOT = Path(__file__).parents[2]


@pytest.fixture
def flags(tmp_path: Path) -> list[str]:
    """Flags of an instant run on the sample. Its results go to a folder of the test."""
    return ["--dataset_dir", str(ROOT / "dataset"), "--embedding_name", "hash", "--save_dir", str(tmp_path / "out")]


@pytest.fixture
def sample(flags: list[str]) -> list[str]:
    return ["bench", "run", "--dataset", "sample", *flags]


def _one_error_line(captured: str) -> str:
    """Return the message of the only line in `captured`, apart from the notice about the judge."""
    (line,) = [line for line in captured.splitlines() if line != OFFLINE_NOTICE]
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


def test_run_prints_its_figures_and_their_folder(
    sample: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(sample) == 0
    shown = capsys.readouterr().out
    (metrics_file,) = (tmp_path / "out" / "sample").glob("*/metrics.json")
    metrics = json.loads(metrics_file.read_text(encoding="utf-8"))
    assert shown.startswith(f"{metrics['nodes']} nodes, {metrics['edges']} edges, indexed in ")
    for kind, row in metrics["recall"].items():
        recalls = " +".join(f"{row[column]:.1f}" for column in row if column != "questions")
        assert re.search(rf"^{kind} +{row['questions']} +{recalls}$", shown, flags=re.MULTILINE), kind
    assert "all except embed" in shown
    assert shown.endswith(f"Written to {metrics_file.parent}\n")


# Run


# Sources of settings


# Demo


@pytest.mark.slow
def test_the_demo_prints_what_stands_in_the_readme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert f"```text\n{shown}```\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(shown.splitlines()) < 15
    assert main(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["right"] for one in told["asked"]] == 2 * [{"Vector search": False, "neurogated": True}]
    assert Path(told["page"]) == tmp_path / "outputs" / "sample" / "why.html"
    assert told["asked"][0]["question"] in Path(told["page"]).read_text(encoding="utf-8").replace("&#39;", "'")
    assert [file.name for file in (tmp_path / "outputs").rglob("*") if file.is_file()] == ["why.html"]


def test_the_sample_is_in_a_folder_of_its_own_whatever_the_environment_names(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "facts.db"
    named = {
        "STORAGE": "postgresql://ana:secret@localhost:1/memories",
        "NAMESPACE": "tenant",
        "REQUIRE_USER": "true",
        "READ_ONLY": "true",
        "METABOLISM__FACTS_URL": f"sqlite:///{rows}",
        "METABOLISM__CANVAS_URL": "redis://localhost:1",
    }
    for name, value in named.items():
        monkeypatch.setenv(f"NEUROGATED_{name}", value)
    monkeypatch.setattr("neurogated.cli.chat.memory_exists", lambda _: False)
    monkeypatch.setattr("builtins.input", lambda _: "/quit")
    assert main(["chat", *flags]) == 0
    told = capsys.readouterr()
    assert "secret" not in told.out + told.err
    assert (tmp_path / "out" / "sample" / "memory" / "memory.db").exists()
    assert not rows.exists()


# Errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--storage", "redis"], "storage is 'redis', but must be one of sqlite, memory"),
        (["--TOP_K_ANCHORS", "0"], "TOP_K_ANCHORS is 0, but must be at least 1"),
        (["--temperature", "-1"], "temperature is -1.0, but must be between 0 and 2"),
        (["--set", "embedding.trust_remote_code=maybe"], "embedding.trust_remote_code is 'maybe', but must be bool"),
    ],
)
def test_wrong_setting_is_one_line_on_stderr_and_exit_code_2(
    sample: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main([*sample, *words]) == 2
    captured = capsys.readouterr()
    assert _one_error_line(captured.err).startswith(message)
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


_EXIT_CODES = [
    (int(code), example)
    for code, examples in re.findall(
        r"^\| (\d+) \| [^|]+ \| (.*)\|$",
        (Path(__file__).parents[2] / "docs/reference.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    for example in re.findall(r"`([^`]+)`", examples)
]


def test_commands_exit_with_the_codes_of_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEUROGATED_SAVE_DIR", "here")
    monkeypatch.setenv("NEUROGATED_EMBEDDING_NAME", "hash")
    assert main(["add", "I moved to Lyon.", "--id", "a"]) == 0
    capsys.readouterr()
    assert {code for code, _ in _EXIT_CODES} == {0, 1, 2}
    for code, example in _EXIT_CODES:
        assert main(shlex.split(example)) == code, example
        told = capsys.readouterr().err.replace(f"{OFFLINE_NOTICE}\n", "")
        assert told.startswith("error: ") if code else not told, example


def test_an_interrupted_command_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("neurogated.memory.NeuroGraphMemory.__init__", interrupted)
    assert main(["add", "I moved to Lyon.", "--storage", "memory"]) == 130


@pytest.mark.parametrize("words", [["list"], ["stats", "--json"], ["ask", "Ana"], ["update", "a", "Ana left Lyon."]])
def test_output_waits_until_the_memory_is_closed_and_comes_also_if_it_cannot_be_closed(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--save_dir", str(tmp_path), "--embedding_name", "hash"]
    assert main(["add", "Ana lives in Lyon.", "--id", "a", *flags]) == 0
    capsys.readouterr()
    printed, close = list[str](), NeuroGraphMemory.close

    def closed(memory: NeuroGraphMemory) -> None:
        printed.append(capsys.readouterr().out)
        close(memory)
        raise StorageError("the disk is full")

    monkeypatch.setattr(NeuroGraphMemory, "close", closed)
    assert main([*words, *flags]) == 1
    told = capsys.readouterr()
    assert (printed, bool(told.out), "the disk is full" in told.err) == ([""], True, True)


# The ways to start it


@pytest.mark.parametrize(
    "program", [["-m", "neurogated", "bench", "run"], [str(ROOT / "main.py")]], ids=["module", "main.py"]
)
def test_started_program_exits_with_the_code_of_the_error_and_no_traceback(program: list[str], tmp_path: Path) -> None:
    words = [sys.executable, *program, "--dataset", "absent"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert _one_error_line(done.stderr).startswith("dataset/absent_corpus.json does not exist")


# Doctor


def _findings(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["doctor", "--embedding_name", "hash", "--json", *words])
    value = json.loads(capsys.readouterr().out)
    assert value["works"] == (code == 0)
    return code, {finding["part"]: finding for finding in value["findings"]}


def test_a_sound_installation_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, findings = _findings(capsys, "--save_dir", str(tmp_path / "new"))
    assert code == 0
    assert set(findings) == {"program", "extras", "embedding model", "GPU", "disk", "memory", "language model"}
    assert "none yet" in findings["memory"]["detail"]
    assert list(tmp_path.iterdir()) == []


def test_extras_without_their_packages_are_named_with_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = metadata.distributions
    monkeypatch.setattr(metadata, "distributions", lambda name: () if name == "redis" else found(name=name))
    code, findings = _findings(capsys, "--save_dir", str(tmp_path))
    assert code == 0
    assert "redis" in findings["extras"]["detail"]
    assert "dev" not in findings["extras"]["detail"].split()
    assert "pip install 'neurogated[NAME]'" in findings["extras"]["remedy"]


def test_a_folder_that_cannot_be_made_has_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    code, findings = _findings(capsys, "--save_dir", "/proc/none")
    assert code == 1
    assert "--save_dir" in findings["disk"]["remedy"]


def test_each_command_works_on_a_plain_installation_or_says_on_one_line_what_to_install(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.cli.plain", str(tmp_path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=120)
    results = {words: (code, errors) for words, code, errors in json.loads(done.stdout)}
    assert all(results[f"{name} --help"] == (0, "") for name in COMMANDS)
    failed = {words.partition(" --")[0]: errors for words, (code, errors) in results.items() if code}
    assert all(errors.startswith("error: ") and errors.count("\n") == 1 for errors in failed.values())
    assert all(errors.count("package") < 2 for errors in failed.values())
    hints = {name: errors.rpartition("; ")[2].strip() for name, errors in failed.items() if "pip install" in errors}
    extras = {"consolidate": "communities", "mcp": "mcp", "repl": "repl", "serve": "serve"}
    assert hints == {name: f"pip install 'neurogated[{extra}]'" for name, extra in extras.items()}
    code, warning = results[f"mcp install --client claude-code --save_dir {tmp_path}"]
    assert code == 0
    assert (warning.count("\n"), warning.endswith("pip install 'neurogated[mcp]'\n")) == (1, True)


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    """Return the tool that writes the tables of docs."""
    spec = importlib.util.spec_from_file_location("reference_tables", ROOT / "tools" / "reference_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["settings.md", "reference.md"])
def test_a_table_of_docs_is_that_of_the_code(tables: ModuleType, page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert tables.replaced(text, tables.TABLES[page]()) == text, "write it with `python tools/reference_tables.py`"


def test_the_page_of_operations_is_that_of_the_code(tables: ModuleType) -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert tables.operations() == text, "write it with `python tools/reference_tables.py`"


def test_settings_lists_every_setting_with_its_value_default_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--set", "retrieval.energy_weight=0.5"]) == 0
    shown = capsys.readouterr().out
    assert "retrieval.energy_weight = 0.5 (default: 0.05)\n" in shown
    unwrapped = " ".join(shown.split())
    for found in settings_of(MemoryConfig):
        assert re.search(rf"^{re.escape(found.name)} = ", shown, flags=re.MULTILINE), found.name
        assert found.spec.metadata["help"] in unwrapped, found.name


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"bench"}))
def test_a_command_has_help_for_each_flag_and_an_example_that_it_understands(tables: ModuleType, name: str) -> None:
    command: click.Command = tables.command_of(name)
    assert all(flag.help for flag in command.params if isinstance(flag, click.Option))
    assert COMMANDS[name].examples
    for example in COMMANDS[name].examples:
        words = shlex.split(example)[1 + len(name.split()) :]
        command.make_context(name, words)


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"bench"}))
def test_an_error_about_a_flag_names_it_as_it_is_typed(
    tables: ModuleType, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [one for one in tables.command_of(name).params if isinstance(one, click.Option)]
    for flag in flags:
        if flag.required:
            assert main(name.split()) != 0
            assert re.search(r"^error: (--\w+|'\w+') is missing", capsys.readouterr().err, re.MULTILINE)
        if flag.type.name not in {"text", "boolean"}:
            assert main([*name.split(), flag.opts[0], "\0"]) != 0
            assert f"error: {flag.opts[0]}: " in capsys.readouterr().err


SERVER = """
import contextlib, os, socket
from neurogated.cli.listening import serve

async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"%d" % at_once(tuple(scope["client"]))})

def at_once(client):
    for one in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(one))) as found:
            if found.getpeername()[:2] == client:
                return found.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

serve(app, "127.0.0.1", 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="finds the socket of a connection in /proc")
def test_an_answer_in_two_parts_does_not_wait_for_an_acknowledgement() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert int(httpx.get(server.stdout.readline().strip()).text) > 0
        finally:
            server.terminate()


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1"])
def test_an_address_that_cannot_be_had_is_an_error_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ["--save_dir", str(tmp_path), "--embedding_name", "hash", "--host", host, "--port", port]
        main(["serve", "--new_key", *words[:4]])
        capsys.readouterr()
        assert main(["serve", *words]) != 0
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "warning" not in one.lower()]
    assert "--port" in line
