"""Fixtures that many tests share."""

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from neurogated import MemoryConfig
from neurogated.testing import ManualClock
from tests.bolt_server import BoltServer
from tests.postgres_server import Postgres

if TYPE_CHECKING:
    from neurogated import NeuroGraphMemory

# Set before any test imports a model library, which reads it on import.
os.environ["HF_HUB_OFFLINE"] = "1"

# Machines are shared and sometimes slow, so the duration of an example proves nothing.
UNTIMED = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("ci", UNTIMED, max_examples=12, derandomize=True)
hypothesis.settings.register_profile("nightly", UNTIMED, max_examples=300)
hypothesis.settings.load_profile("ci")  # `make test-nightly` names the other

ROOT = Path(__file__).parents[1]
# Models are exported once for all runs, and not into the user's cache.
os.environ["XDG_CACHE_HOME"] = str(ROOT / ".pytest_cache" / "home")


# Their rounds repeat lines that other tests cover, and coverage would cost as much again as half of their time.
_REPEATING = ("/durability/", "test_interrupts_anywhere.py", "Machine::")
# A store of a database takes a second to create, and a property of the kit creates one for each example. In CI, the
# state machine looks for faults in these stores, and the properties in the others.
_SLOW_STORES = ("test_neo4j_conformance.py", "test_postgres_conformance.py", "::TestKeptStore::")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the properties of slow stores to the night, and measure no coverage during long rounds."""
    for item in items:
        is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if is_property and any(store in item.nodeid for store in _SLOW_STORES) and "Machine::" not in item.nodeid:
            item.add_marker("nightly")
        if item.get_closest_marker("nightly") or any(part in item.nodeid for part in _REPEATING):
            item.add_marker("no_cover")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The place of a memory in a file."""
    return tmp_path / "memory.db"


@pytest.fixture(scope="module")
def small_overlay() -> Iterator[None]:
    """Let graphs collect so few changed edges that they rebuild the adjacency often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neurogated.storage.index.graph.topology.OVERLAY_EDGES", 4)
        yield


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the user's own settings from the tests."""
    for name in os.environ:
        if name.startswith(("NEUROGATED_", "OPENAI_", "ANTHROPIC_", "NEO4J_")):
            monkeypatch.delenv(name)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def storage() -> str:
    """Return the default storage. Modules that test each storage override this fixture."""
    return "sqlite"


@pytest.fixture
def config(tmp_path: Path, storage: str) -> MemoryConfig:
    """Settings of a memory with the instant embedder."""
    return MemoryConfig(storage=storage, save_dir=str(tmp_path / "out"), embedding_name="hash")


@pytest.fixture(scope="session")
def read_by_model() -> Iterator[Mapping[str, Any]]:
    """Return the settings of memories whose plain sentences a model reads."""
    from tests.knowledge.plain_reader import reading

    with reading() as settings:
        yield settings


@pytest.fixture
def memory(config: MemoryConfig) -> Iterator["NeuroGraphMemory"]:
    from neurogated import NeuroGraphMemory

    with NeuroGraphMemory(config) as opened:
        yield opened


@pytest.fixture
def plain() -> MemoryConfig:
    """Settings of a memory in RAM with the instant embedder."""
    return MemoryConfig(storage="memory", embedding_name="hash")


@pytest.fixture
def in_ram(plain: MemoryConfig) -> Iterator["NeuroGraphMemory"]:
    from neurogated import NeuroGraphMemory

    with NeuroGraphMemory(plain) as opened:
        yield opened


@pytest.fixture
def small(config: MemoryConfig) -> Iterator["NeuroGraphMemory"]:
    """Return a memory that makes a chunk of every sentence."""
    from neurogated import NeuroGraphMemory

    with NeuroGraphMemory(config.replace(indexing={"chunk_size": 8})) as opened:
        yield opened


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte. If the machine cannot mount one, no file may exceed a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() == 0 and shutil.which("mount") and not subprocess.run(mount, check=False).returncode:
        yield folder
        subprocess.run(["umount", "-l", str(folder)], check=True)
    else:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
        yield folder
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    # The server runs as another user, who may not enter the folders of pytest.
    with tempfile.TemporaryDirectory(prefix="postgres") as folder:
        server = Postgres(Path(folder))
        yield server
        server.close()


@pytest.fixture(scope="session")
def bolt_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    if find_spec("arcadedb_embedded") is None and os.environ.get("CI") != "true":
        pytest.skip("arcadedb-embedded is not installed; run 'make install'")
    server = BoltServer(tmp_path_factory.mktemp("bolt"))
    server.start()
    yield server
    server.kill()
