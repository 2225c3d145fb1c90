"""The kit is found and runs whole, its example passes, and a store with a fault fails where the fault lies."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
from hypothesis import settings

import graph_store_kit

README = (Path(graph_store_kit.__file__).parents[2] / "README.md").read_text(encoding="utf-8")
Outcomes = dict[tuple[str, str], str]
"""The message of each test that failed or was skipped, and an empty text for each that passed, by class and name."""


def _outcomes(folder: Path, *words: str) -> Outcomes:
    """Run tests in a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--junitxml=results.xml", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (folder / "results.xml").exists(), done.stdout + done.stderr
    found = {}
    for case in ET.parse(folder / "results.xml").iter("testcase"):  # noqa: S314 - written by pytest just now
        of_class = str(case.get("classname")).rsplit(".", 1)[-1].removeprefix("Test")
        found[of_class, str(case.get("name"))] = "".join(str(part.get("message")) for part in case)
    return found


def test_importing_the_clock_loads_neither_pytest_nor_hypothesis(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from neurogated.testing import ManualClock\n"
        "assert not {'pytest', 'hypothesis'} & set(sys.modules), sys.modules\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env=environment)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = graph_store_kit.nonsense
    assert dir(graph_store_kit) == sorted(graph_store_kit.__all__)


def test_every_part_of_the_contract_is_run_by_those_who_inherit_it() -> None:
    from graph_store_kit import GraphStoreContract

    tests = [name for name in dir(GraphStoreContract) if name.startswith("test_")]
    parts = [base for base in GraphStoreContract.__mro__ if base.__module__.startswith("graph_store_kit")]
    defined = [name for part in parts for name in vars(part) if name.startswith("test_")]
    assert sorted(tests) == sorted(defined), "a test is hidden by another of its name"


@pytest.mark.nightly
def test_the_example_of_the_readme_passes_all_that_it_claims(tmp_path: Path) -> None:
    for name, text in re.findall(r"^```python\n# (\S+)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (command,) = re.findall(r"^pytest .*$", README, flags=re.MULTILINE)
    results = {name: message for (_, name), message in _outcomes(tmp_path, *shlex.split(command)[1:]).items()}
    for name in ("test_all_there_is_comes_back[kill]", "test_all_there_is_comes_back[reopen]", "runTest"):
        assert results[name] == ""
    assert sum(message == "" for message in results.values()) > len(results) * 3 / 4


@pytest.mark.nightly
def test_the_tables_name_the_hooks_and_abilities_there_are() -> None:
    from graph_store_kit import GraphStoreContract

    for hook in re.findall(r"^\| `(\w+)\(", README.split("## Hooks")[1].split("## Tests")[0], flags=re.MULTILINE):
        assert callable(getattr(GraphStoreContract, hook))
    sources = "".join(path.read_text("utf-8") for path in Path(graph_store_kit.__file__).parent.rglob("*.py"))
    assert set(re.findall(r"^\| `(Supports\w+)`", README, flags=re.MULTILINE)) == set(
        re.findall(r"\bable\([^()]*(?:\([^()]*\))?[^()]*, (Supports\w+)\)", sources)
    )


# Stores with a fault


BROKEN = Path(__file__).with_name("broken_stores.py")
# Detecting a fault is enough. Shrinking the example takes most of the time.
_DETECT = """
def pytest_configure():
    from hypothesis import Phase, settings
    settings.register_profile("detect", phases=[Phase.generate])
    settings.load_profile("detect")
"""


def _broken_stores() -> ModuleType:
    spec = importlib.util.spec_from_file_location("broken_stores", BROKEN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_STORES = _broken_stores()
FAULTS = {kind.__name__: test for kind, test in _STORES.FAULTS.items()}
FOUND_BY_MACHINE = [kind.__name__ for kind in _STORES.FOUND_BY_MACHINE]
if settings.get_current_profile_name() != "nightly":
    # By day, a few of them show that the kit still fails.
    FAULTS, FOUND_BY_MACHINE = dict(list(FAULTS.items())[::8]), FOUND_BY_MACHINE[:1]


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("faults")
    chosen = [f"{BROKEN}::Test{name}::{test}" for name, test in FAULTS.items()]
    chosen += [f"{BROKEN}::TestSound::{test}" for test in sorted(set(FAULTS.values()))]
    chosen += [f"{BROKEN}::TestMachineOf{name}" for name in FOUND_BY_MACHINE]
    (folder / "detect.py").write_text(_DETECT, encoding="utf-8")
    return _outcomes(folder, "-q", "-p", "detect", "--hypothesis-seed=0", "--tb=line", *chosen)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught_where_it_lies(failures: Outcomes, fault: str) -> None:
    assert failures[fault, FAULTS[fault]]


@pytest.mark.slow
@pytest.mark.parametrize("test", sorted(set(FAULTS.values())))
def test_a_sound_store_passes_the_same_tests(failures: Outcomes, test: str) -> None:
    assert failures["Sound", test] == ""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FOUND_BY_MACHINE)
def test_the_state_machine_finds_it_by_itself(failures: Outcomes, fault: str) -> None:
    assert [found for (name, _), found in failures.items() if name == f"MachineOf{fault}"] > [""]
