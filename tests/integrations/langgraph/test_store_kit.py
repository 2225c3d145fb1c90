"""The kit for stores of LangGraph: its example, its hooks, and what importing it loads."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import neurogated.testing.langgraph
from neurogated.testing.langgraph import LangGraphStoreContract

README = (Path(neurogated.testing.langgraph.__file__).parent / "README.md").read_text(encoding="utf-8")


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_example_runs_and_skips_what_it_lacks_with_the_reason(tmp_path: Path) -> None:
    ((name, text),) = re.findall(r"^```python\n# (\S+)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    (tmp_path / name).write_text(text, encoding="utf-8")
    probes = "returned_by_get or most_similar or killed_process_loses or coroutines_do"
    done = _run("-m", "pytest", "-rs", "-p", "no:cacheprovider", name, "-k", probes, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 2 skipped" in done.stdout
    for ability in ("vectors", "asynchronous"):
        assert f"TestSqliteStore.{ability} is False" in done.stdout


def test_the_table_of_hooks_names_what_the_class_has() -> None:
    rows = README.split("## Hooks")[1].split("## Which")[0]
    names = re.findall(r"`(\w+)(?:\(.*?\))?`", "".join(re.findall(r"^\| (.*?) \|", rows, flags=re.MULTILINE)))
    assert names
    assert all(hasattr(LangGraphStoreContract, name) for name in names)
    assert f"{sum(name.startswith('test_') for name in dir(LangGraphStoreContract))} tests" in README


def test_every_probe_says_in_a_sentence_what_it_expects() -> None:
    for name in dir(LangGraphStoreContract):
        if name.startswith("test_"):
            assert str(getattr(LangGraphStoreContract, name).__doc__).endswith("."), name


def test_importing_the_kit_loads_neither_pytest_nor_langgraph(tmp_path: Path) -> None:
    program = (
        "import sys, neurogated.testing.langgraph; print({'pytest', 'langgraph', 'langchain_core'} & set(sys.modules))"
    )
    assert _run("-c", program, cwd=tmp_path).stdout.strip() == "set()"


def test_a_subclass_must_override_the_hook() -> None:
    with pytest.raises(NotImplementedError, match="open_store"):
        LangGraphStoreContract().open_store("place")
