"""The kit loads on request and needs nothing before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import neurogated.testing
from neurogated.errors import MissingExtraError


def test_importing_the_clock_loads_neither_pytest_nor_hypothesis(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from neurogated.testing import ManualClock\n"
        "assert not {'pytest', 'hypothesis'} & set(sys.modules), sys.modules\n"
        "from neurogated.testing import GraphModel\n"
        "assert not {'pytest', 'hypothesis'} & set(sys.modules), sys.modules\n"
        "from neurogated.testing import GraphStoreContract, GraphStoreMachine, store_machine\n"
        "assert {'pytest', 'hypothesis'} <= set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env=environment)


@pytest.mark.parametrize("package", ["pytest", "hypothesis"])
@pytest.mark.parametrize("name", ["GraphStoreContract", "store_machine"])
def test_a_missing_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch, package: str, name: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError):
        getattr(neurogated.testing, name)


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = neurogated.testing.nonsense
    assert dir(neurogated.testing) == sorted(neurogated.testing.__all__)


def test_every_part_of_the_contract_is_run_by_those_who_inherit_it() -> None:
    from neurogated.testing import GraphStoreContract

    tests = [name for name in dir(GraphStoreContract) if name.startswith("test_")]
    parts = [base for base in GraphStoreContract.__mro__ if base.__module__.startswith("neurogated.testing")]
    defined = [name for part in parts for name in vars(part) if name.startswith("test_")]
    assert sorted(tests) == sorted(defined), "a test is hidden by another of its name"
