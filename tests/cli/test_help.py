"""The help of the command line fits a screen and lists every setting."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from neurogated import MemoryConfig
from neurogated.cli import main
from neurogated.cli.parser import BENCH, COMMANDS
from neurogated.cli.settings import markdown
from neurogated.config.setting import settings_of

ROOT = Path(__file__).parents[2]
LINES_OF_A_SCREEN = 45


def _exit_code(words: list[str]) -> object:
    """Return the exit code of words that argparse itself answers or refuses."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    return caught.value.code


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
    assert "no setting has 'zzz' in its name" in capsys.readouterr().out


def test_the_page_of_settings_is_the_table_that_the_command_prints() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page.endswith(f"\n\n{markdown()}\n"), "write it with `neurogated settings --markdown`"


@pytest.mark.parametrize("words", [[], ["--help"]], ids=["nothing", "--help"])
def test_without_a_command_it_prints_its_commands(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (_exit_code(words) if words else main([])) == 0
    shown = capsys.readouterr().out
    for name in [*(name for group in COMMANDS.values() for name in group), "bench"]:
        assert re.search(rf"^  {name} +\S", shown, flags=re.MULTILINE), name


ALL_WORDS = [
    [],
    ["bench"],
    *([name] for group in COMMANDS.values() for name in group),
    *(["bench", name] for name in BENCH),
]


@pytest.mark.parametrize("words", ALL_WORDS, ids=" ".join)
def test_help_fits_a_screen(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert _exit_code([*words, "--help"]) == 0
    assert len(capsys.readouterr().out.splitlines()) <= LINES_OF_A_SCREEN


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("ask", "usage: neurogated ask [flags] question\n"),
        ("add", "usage: neurogated add [flags] [text]\n"),
        ("feedback", "usage: neurogated feedback [flags] ids [ids ...]\n"),
        ("restore", "usage: neurogated restore [flags] file\n"),
        ("stats", "usage: neurogated stats [flags]\n"),
    ],
)
def test_the_usage_shows_the_words_that_a_command_takes(
    command: str, usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _exit_code([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith(usage)


@pytest.mark.parametrize("text", ["retrieval.candidates", ""])
def test_a_setting_without_a_value_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--set", text]) == 2
    assert "--set takes NAME=VALUE" in capsys.readouterr().err
