"""The help of the command line fits a screen, and the tables of docs are those of the code."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from neurogated import MemoryConfig
from neurogated.cli import main
from neurogated.cli.app import COMMANDS
from neurogated.config.setting import settings_of

ROOT = Path(__file__).parents[2]
LINES_OF_A_SCREEN = 51


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
    assert main(["settings", "--set", "retrieval.candidates=50"]) == 0
    shown = capsys.readouterr().out
    assert "retrieval.candidates = 50 (default: 100)\n" in shown
    unwrapped = " ".join(shown.split())
    for found in settings_of(MemoryConfig):
        assert re.search(rf"^{re.escape(found.name)} = ", shown, flags=re.MULTILINE), found.name
        assert found.spec.metadata["help"] in unwrapped, found.name


def test_settings_shows_those_with_a_word_in_their_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "HOPS", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"MAX_HOPS": 2}
    assert main(["settings", "zzz"]) == 0
    assert "no setting" in capsys.readouterr().out


def test_without_a_command_it_explains_those_to_begin_with_and_names_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert re.findall(r"^  (\w+) +[a-z]\S* \S+ .*", shown.partition("\n\nAll others")[0], flags=re.MULTILINE) == [
        "demo", "chat", "add", "ask", "doctor",
    ]  # fmt: skip
    assert all(re.search(rf"\b{name}\b", shown) for name in COMMANDS if " " not in name)
    assert max(map(len, shown.splitlines())) <= 80


def test_its_help_explains_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert " " in name or re.search(rf"^  {name} +\S", shown, flags=re.MULTILINE), name


@pytest.mark.parametrize("words", [[], *(name.split() for name in COMMANDS)], ids=" ".join)
def test_help_fits_a_screen(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= LINES_OF_A_SCREEN
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"bench"}))
def test_a_command_has_help_for_each_flag_and_an_example_that_it_understands(tables: ModuleType, name: str) -> None:
    command: click.Command = tables.command_of(name)
    assert all(flag.help for flag in command.params if isinstance(flag, click.Option))
    assert COMMANDS[name].examples
    for example in COMMANDS[name].examples:
        words = shlex.split(example)[1 + len(name.split()) :]
        command.make_context(name, words)


def test_the_shell_completes_commands_and_flags(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "neurogated"]
    for words, expected in (("neurogated con", "conflicts"), ("neurogated add --spea", "--speaker")):
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_NEUROGATED_COMPLETE": "bash_complete"}
        done = subprocess.run(
            program, env={**os.environ, **asked}, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert f"plain,{expected}\n" in done.stdout, done.stderr


@pytest.mark.parametrize("text", ["retrieval.candidates", ""])
def test_a_setting_without_a_value_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--set", text]) == 2
    assert "NAME=VALUE" in capsys.readouterr().err
