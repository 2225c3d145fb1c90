"""The help of the command line fits a screen, and the tables of docs are those of the code."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest

from neurogated import MemoryConfig
from neurogated.cli import main
from neurogated.cli.app import COMMANDS
from neurogated.config.setting import settings_of

ROOT = Path(__file__).parents[2]


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
