"""The clock needs no test framework; the kit is found, and runs whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graph_store_kit
import neurogated.testing
from neurogated.errors import MissingExtraError


def test_importing_the_clock_loads_neither_pytest_nor_hypothesis(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from neurogated.testing import ManualClock\n"
        "assert not {'pytest', 'hypothesis'} & set(sys.modules), sys.modules\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env=environment)


def test_the_old_place_of_the_kit_names_the_new_one() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install \./kits/graph-store .* import GraphStoreContract"):
        _ = neurogated.testing.GraphStoreContract


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = neurogated.testing.nonsense
    with pytest.raises(AttributeError, match="nonsense"):
        _ = graph_store_kit.nonsense
    assert dir(graph_store_kit) == sorted(graph_store_kit.__all__)


def test_every_part_of_the_contract_is_run_by_those_who_inherit_it() -> None:
    from graph_store_kit import GraphStoreContract

    tests = [name for name in dir(GraphStoreContract) if name.startswith("test_")]
    parts = [base for base in GraphStoreContract.__mro__ if base.__module__.startswith("graph_store_kit")]
    defined = [name for part in parts for name in vars(part) if name.startswith("test_")]
    assert sorted(tests) == sorted(defined), "a test is hidden by another of its name"
