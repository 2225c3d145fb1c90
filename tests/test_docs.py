"""Every command and example of the README and of docs works, and lists agree with the code and `findings/`."""

import ast
import builtins
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import neurogated
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.archive.foreign import FORMATS
from neurogated.cli import main

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


FINDINGS = Path(__file__).parents[1] / "findings"
SCRIPTS = [script for script in sorted(FINDINGS.glob("*.sh")) if script.name != "run.sh"]


def _said(script: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+): (.+)$", script.read_text(), re.MULTILINE))


def test_the_index_lists_each_finding_with_what_its_script_says() -> None:
    rows = re.findall(r"^\| (.+) \| \[(.+)\]\((.+)\) \| (.+) \|$", (FINDINGS / "INDEX.md").read_text(), re.MULTILINE)
    heads = [(_said(script), script) for script in SCRIPTS]
    listed = [(said["Package"].split(",")[0], of.stem, of.name, said["Behaviour"]) for said, of in heads]
    assert sorted(rows) == sorted(listed)
