"""Rules for the whole package."""

import ast
import os
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import neurogated

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "neurogated").rglob("*.py"))
KITS = sorted((ROOT / "kits").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

BUDGETS = ROOT / "docs" / "adr" / "0038-rooms-have-budgets.md"
_BUDGET = re.compile(r"\| (?P<rooms>`[^|]+`) \| (?P<most>[\d,]+) \| [\d,]+ \|")

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60


def _too_long(path: Path) -> list[str]:
    text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
    found = [f"{name}"] if len(text.splitlines()) > MAX_FILE_LINES else []
    functions = (one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    long = (one.name for one in functions if (one.end_lineno or 0) - one.lineno >= MAX_FUNCTION_LINES)
    return found + [f"{name}: {function}" for function in long]


def test_files_and_functions_stay_short() -> None:
    assert [fault for path in (*SOURCES, *KITS, *TESTS) for fault in _too_long(path)] == []


def test_each_room_keeps_its_budget_of_lines() -> None:
    package, lines = ROOT / "src" / "neurogated", dict[str, int]()
    for path in SOURCES:
        room, *rest = path.relative_to(package).parts
        room = room if rest else room.removesuffix(".py")
        lines[room] = lines.get(room, 0) + len(path.read_text(encoding="utf-8").splitlines())
    budgets = [
        (re.findall(r"`([^`]+)`", found["rooms"]), int(found["most"].replace(",", "")))
        for found in map(_BUDGET.match, BUDGETS.read_text(encoding="utf-8").splitlines())
        if found
    ]
    named = {room for rooms, _ in budgets for room in rooms}
    lines["top level"] = sum(lines.pop(room) for room in lines.keys() - named)
    assert lines.keys() == named
    sums = [(rooms, sum(lines[room] for room in rooms), most) for rooms, most in budgets]
    assert [(rooms, total) for rooms, total, most in sums if total > most] == []


def test_each_mutation_still_has_its_place_in_the_source() -> None:
    mutations = runpy.run_path(str(ROOT / "tools" / "mutations.py"))["MUTATIONS"]
    for name, old, _, tests in mutations:
        text = (ROOT / "src" / "neurogated" / name).read_text(encoding="utf-8")
        files = [ROOT / "tests" / test.partition("::")[0] for test in tests.split()]
        assert (name, text.count(old), all(map(Path.exists, files))) == (name, 1, True), old


def test_every_public_name_is_exported_listed_and_importable() -> None:
    listed = vars(neurogated)["__all__"]
    assert {"NeuroGraphMemory", "MemoryConfig", "Recall", "__version__"} <= {*listed}
    assert listed == sorted(set(listed)) == dir(neurogated)
    for name in listed:
        assert getattr(neurogated, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = neurogated.nonsense  # type: ignore[attr-defined]


def test_type_checkers_read_the_public_names_that_the_package_loads() -> None:
    stub = (ROOT / "src" / "neurogated" / "__init__.pyi").read_text(encoding="utf-8")
    told = [
        (name, home) for home, name, same in re.findall(r"(?m)^from (\S+) import (\w+) as (\w+)$", stub) if name == same
    ]
    homes = {name: f"neurogated.{home}" for name, home in vars(neurogated)["_HOMES"].items()}
    assert sorted(told) == sorted({**homes, "__version__": "neurogated.version"}.items())


def test_the_package_imports_from_an_archive_without_its_stub(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "application.zip", "w") as archive:
        for path in (*SOURCES, *(ROOT / "src").rglob("*.toml")):
            archive.write(path, path.relative_to(ROOT / "src"))
    script = "import neurogated; from neurogated import MemoryConfig; print(neurogated.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "application.zip")}
    ran = subprocess.run([sys.executable, "-OO", "-c", script], env=environment, capture_output=True, check=True)
    assert b"application.zip" in ran.stdout


@pytest.mark.parametrize(
    "statement", ["import neurogated", "from neurogated import NeuroGraphMemory, MemoryConfig, Recall"]
)
def test_importing_loads_no_model_library_and_has_no_side_effect(statement: str, tmp_path: Path) -> None:
    script = (
        "import os, sys, logging; before = dict(os.environ), logging.root.handlers[:]\n"
        f"{statement}\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'openai', 'pandas', 'igraph', 'sklearn'}\n"
        "heavy |= {'matplotlib', 'faiss', 'scipy', 'jinja2', 'spacy', 'openvino', 'onnxruntime', 'tokenizers'}\n"
        "heavy |= {'sqlalchemy', 'psycopg', 'redis'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert before == (dict(os.environ), logging.root.handlers[:])\n"
        "assert not os.listdir('.')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)


def test_requirements_name_every_dependency_with_the_same_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    required = {line.split("#")[0].strip() for line in lines if line and not line.startswith("#")}
    assert set(project["dependencies"]) <= required
    users_list = [
        "numpy",
        "scikit-learn",
        "openai",
        "python-igraph",
        "pandas",
        "tqdm",
        "pytest",
        "torch",
        "sentence-transformers",
    ]
    assert {re.split("[<>=]", line)[0] for line in required} >= set(users_list)
