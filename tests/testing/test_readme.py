"""The example in the kit's README runs unchanged."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import graph_store_kit

README = (Path(graph_store_kit.__file__).parents[2] / "README.md").read_text(encoding="utf-8")


pytestmark = pytest.mark.nightly


def _files() -> dict[str, str]:
    blocks = re.findall(r"^```python\n# (\S+)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    return dict(blocks)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the outcome of every test of the example: passed, or the reason for its skip or failure."""
    folder = tmp_path_factory.mktemp("example")
    for name, text in _files().items():
        (folder / name).write_text(text, encoding="utf-8")
    (command,) = re.findall(r"^pytest .*$", README, flags=re.MULTILINE)
    options = ["--junitxml=results.xml", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = ET.parse(folder / "results.xml").iter("testcase")  # noqa: S314 - written by pytest just now
    return {str(case.get("name")): _outcome(case) for case in cases}


def _outcome(case: ET.Element) -> str:
    return "passed" if not len(case) else str(case[0].get("message"))


def test_the_example_passes_all_that_it_claims(results: dict[str, str]) -> None:
    assert results["test_all_there_is_comes_back[kill]"] == "passed"
    assert results["test_all_there_is_comes_back[reopen]"] == "passed"
    assert results["runTest"] == "passed"
    assert sum(outcome == "passed" for outcome in results.values()) > len(results) * 3 / 4


def test_the_tables_name_the_hooks_and_abilities_there_are() -> None:
    from graph_store_kit import GraphStoreContract

    for hook in re.findall(r"^\| `(\w+)\(", README.split("## Hooks")[1].split("## Tests")[0], flags=re.MULTILINE):
        assert callable(getattr(GraphStoreContract, hook))
    sources = "".join(path.read_text("utf-8") for path in Path(graph_store_kit.__file__).parent.rglob("*.py"))
    assert set(re.findall(r"^\| `(Supports\w+)`", README, flags=re.MULTILINE)) == set(
        re.findall(r"\bable\([^()]*(?:\([^()]*\))?[^()]*, (Supports\w+)\)", sources)
    )
