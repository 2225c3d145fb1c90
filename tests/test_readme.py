"""Every command and every example of the README works."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from neurogated.cli import main

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def _lines(language: str) -> list[str]:
    lines = [line.split("#")[0].strip() for block in _blocks(language) for line in block.splitlines()]
    return [line for line in lines if line]


def _environment(tmp_path: Path) -> dict[str, str]:
    """Settings that keep the examples quick and out of the checkout; flags still win over them."""
    quick = {"NEUROGATED_EMBEDDING_NAME": "hash", "NEUROGATED_SAVE_DIR": str(tmp_path / "out")}
    return {**os.environ, **quick, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> pytest.CaptureFixture[str]:
    """Let the examples run in this process, in a folder of their own; return what captures their output."""
    for name in ("main.py", "dataset"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name, value in _environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return capsys


@pytest.mark.parametrize("block", _blocks("bash"))
def test_the_commands_of_a_block_run_one_after_the_other(block: str, examples: pytest.CaptureFixture[str]) -> None:
    first, *others = block.splitlines()
    done = subprocess.run(shlex.split(first), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{first}: {done.stderr}"
    assert done.stdout, first
    # Starting Python takes longer than most commands; `test_cli` starts the program in every way.
    for command in others:
        python, *words = shlex.split(command)
        assert python == "python"
        assert words[0] == "main.py" or words[:2] == ["-m", "neurogated"], command
        assert main(words[1 + (words[0] == "-m") :]) == 0, f"{command}: {examples.readouterr().err}"
        assert examples.readouterr().out, command


@pytest.mark.parametrize("code", _blocks("python"))
def test_an_example_runs(code: str, examples: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})  # noqa: S102 - the README is ours
    assert "field" in examples.readouterr().out


def test_what_is_installed_and_made_is_there() -> None:
    """Set-up is run by whoever runs the tests; here its words are checked."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in _lines("sh"):
        words = shlex.split(line)
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, flags=re.MULTILINE), line
        elif words[0] == "pip" and "neurogated[" in line:
            assert words[2].split("[")[1].rstrip("]") in EXTRAS, line
        elif words[0] == "pip":
            assert all((ROOT / word).exists() for word in words if word.endswith(".txt")), line
        else:
            assert words[:2] == ["python", "main.py"], line
