"""The kit works: a store with a fault fails, and the same store without it passes."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
from hypothesis import settings

BROKEN = Path(__file__).with_name("broken_stores.py")
# Detecting a fault is enough. Shrinking the example takes most of the time.
_DETECT = """
def pytest_configure():
    from hypothesis import Phase, settings
    settings.register_profile("detect", phases=[Phase.generate])
    settings.load_profile("detect")
"""


pytestmark = pytest.mark.slow


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
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """Return the message of each failed test and an empty text for each passed one, by class and test name."""
    results = tmp_path_factory.mktemp("faults") / "results.xml"
    chosen = [f"{BROKEN}::Test{name}::{test}" for name, test in FAULTS.items()]
    chosen += [f"{BROKEN}::TestSound::{test}" for test in sorted(set(FAULTS.values()))]
    chosen += [f"{BROKEN}::TestMachineOf{name}" for name in FOUND_BY_MACHINE]
    (results.parent / "detect.py").write_text(_DETECT, encoding="utf-8")
    options = [
        "-q",
        "-p",
        "detect",
        "-p",
        "no:cacheprovider",
        "--hypothesis-seed=0",
        "--tb=line",
        f"--junitxml={results}",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *chosen],
        cwd=results.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(results.parent), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert results.exists(), done.stdout + done.stderr
    found = {}
    for case in ET.parse(results).iter("testcase"):  # noqa: S314 - written by pytest just now
        of_class = str(case.get("classname")).rsplit(".", 1)[-1].removeprefix("Test")
        found[of_class, str(case.get("name"))] = "".join(str(part.get("message")) for part in case)
    return found


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_caught_where_it_lies(failures: dict[tuple[str, str], str], fault: str) -> None:
    assert failures[fault, FAULTS[fault]]


@pytest.mark.parametrize("test", sorted(set(FAULTS.values())))
def test_a_sound_store_passes_the_same_tests(failures: dict[tuple[str, str], str], test: str) -> None:
    assert failures["Sound", test] == ""


@pytest.mark.parametrize("fault", FOUND_BY_MACHINE)
def test_the_state_machine_finds_it_by_itself(failures: dict[tuple[str, str], str], fault: str) -> None:
    assert [found for (name, _), found in failures.items() if name == f"MachineOf{fault}"] > [""]
