"""The command line: exit codes, output, sources of settings, and the ways to start it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from neurogated.cli import main
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
