"""Each mistake raises an error of its own kind, whose message holds the value and the remedy."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, errors
from neurogated.core.extras import import_extra
from neurogated.errors import NeurogatedError

OPENED: list[NeuroGraphMemory] = []


def opened(folder: Path, **settings: object) -> NeuroGraphMemory:
    config = MemoryConfig.from_mapping({"save_dir": str(folder), "embedding_name": "hash", **settings})
    OPENED.append(NeuroGraphMemory(config))
    return OPENED[-1]


def closed(folder: Path) -> NeuroGraphMemory:
    with opened(folder) as memory:
        memory.add("The pump failed.")
    return memory


def _foreign(folder: Path) -> None:
    closed(folder)
    (file,) = folder.rglob("memory.db")
    file.write_bytes(b"something else" * 1000)
    opened(folder)


MISSPELT: dict[str, Any] = {"topn": 3}
MISTAKES: dict[str, tuple[Callable[[Path], object], type[NeurogatedError], str]] = {
    "a misspelt setting": (lambda at: opened(at, EMBEDING_NAME="x"), errors.ConfigError, "embedding_name"),
    "a setting out of range": (lambda at: opened(at, MAX_HOPS=-1), errors.ConfigError, "MAX_HOPS is -1"),
    "a closed memory": (lambda at: closed(at).recall("pump"), errors.MemoryClosedError, "open"),
    "a blank text": (lambda at: opened(at).add(" "), errors.InputError, "leave it out"),
    "a misspelt argument": (lambda at: opened(at).recall("pump", **MISSPELT), errors.InputError, "top_n"),
    "an unknown id": (lambda at: opened(at).get("note-7"), errors.UnknownIdError, "note-7"),
    "another dimension": (
        lambda at: (closed(at), opened(at, embedding_name="all-MiniLM-L6-v2")),
        errors.EmbedderMismatchError,
        "hash",
    ),
    "a foreign file": (_foreign, errors.CorruptMemoryError, "memory.db"),
    "a memory in use": (
        lambda at: (opened(at), opened(at, force_index_from_scratch=True)),
        errors.MemoryLockedError,
        "close",
    ),
    "a missing package": (
        lambda _: import_extra("no_such_package", "facts"),
        errors.MissingExtraError,
        "pip install 'neurogated[facts]'",
    ),
}


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_error_has_a_kind_and_names_value_or_remedy(tmp_path: Path, mistake: str) -> None:
    make, kind, remedy = MISTAKES[mistake]
    with pytest.raises(NeurogatedError) as caught:
        make(tmp_path)
    assert type(caught.value) is kind
    assert remedy in str(caught.value)


def test_a_fault_of_this_package_is_not_called_a_missing_package() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_extra("neurogated.no_such_module", "facts")
