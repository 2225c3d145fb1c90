"""The kit for stores of LangGraph: its command, its examples, its hooks, and what importing it loads."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import langgraph_store_kit
from langgraph_store_kit.factory import suite_of

ROOT = Path(__file__).parents[3]
README = (Path(langgraph_store_kit.__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def _run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def _command(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return _run("-m", "langgraph_store_kit", *arguments, cwd=cwd)


def _write_example(name: str, folder: Path) -> None:
    (text,) = re.findall(rf"^```python\n# {re.escape(name)}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    (folder / name).write_text(text, encoding="utf-8")


def test_the_command_counts_what_langgraphs_store_in_memory_passes_and_names_what_it_fails() -> None:
    probes = "eq_is_equality or callers or kept or expired_item_is_swept"
    done = _command("langgraph.store.memory:InMemoryStore", "-v", "-k", probes)
    assert done.returncode == 1, done.stderr
    for part in (
        "filter +1 of 1 pass",
        r"values +\d of \d pass\n +fails: test_items_share_no_objects_with_callers",
        "expiry +skipped",
        " +E +Differing items:",
    ):
        assert re.search(f"^{part}$", done.stdout, flags=re.MULTILINE), part
    assert "Not tested: ttl, durable, shared." in done.stdout


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("json.nonsense:x", "There is no module 'json.nonsense'"),
        ("json:nonsense", "The module 'json' has no 'nonsense'."),
        ("json", "'json' is not of the form module:factory."),
        ("json:loads", "json:loads requires 's'"),
        ("json:__name__", "json:__name__ cannot be called"),
        ("builtins:print", "builtins:print returned an object of type NoneType"),
    ],
)
def test_what_is_no_factory_is_refused(target: str, sentence: str) -> None:
    with pytest.raises(pytest.UsageError, match=re.escape(sentence)):
        suite_of(target)


@pytest.mark.nightly
def test_the_example_runs_and_skips_what_it_lacks_with_the_reason(tmp_path: Path) -> None:
    name = "test_sqlite_store.py"
    _write_example(name, tmp_path)
    probes = "returned_by_get or most_similar or killed_process_loses or coroutines_do"
    done = _run("-m", "pytest", "-rs", "-p", "no:cacheprovider", name, "-k", probes, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 2 skipped" in done.stdout
    for ability in ("vectors", "asynchronous"):
        assert f"TestSqliteStore.{ability} is False" in done.stdout


def test_the_kit_stands_alone(tmp_path: Path) -> None:
    program = (
        "import sys, langgraph_store_kit.factory, langgraph_store_kit.__main__, langgraph_store_kit.writer\n"
        "print([name for name in sys.modules if name.startswith('neurogated')])"
    )
    assert _run("-c", program, cwd=tmp_path).stdout.strip() == "[]"
