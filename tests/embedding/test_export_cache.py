"""Sound, damaged and incomplete exports, and exports without disk space."""

import dataclasses
import errno
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

from neurogated.embedding.export_cache import ExportCache
from neurogated.embedding.exported_model import ExportedModel, ModelDescription
from neurogated.embedding.library_tokenizer import TOKENIZER_FILE, LibraryTokenizer
from neurogated.embedding.runtimes import SINGLE

DESCRIPTION = ModelDescription(("input_ids",), 2, 8, {"input_ids": 0}, pads_left=False, prompts={"document": ""})


class _Ones:
    """Runs a model whose every vector is (1, 1), and records the width of its batches."""

    concurrency = 1

    def __init__(self) -> None:
        self.widths: list[int] = []

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        self.widths.append(inputs["input_ids"].shape[1])
        return np.ones((len(inputs["input_ids"]), 2), dtype=np.float32)


class _Runtime:
    """Loads exports, and raises `trouble` if it is set."""

    name = "plain"
    package = "numpy"
    files: tuple[str, ...] = ("model.plain",)

    def __init__(self) -> None:
        self.trouble: Exception | None = None
        self.best = SINGLE
        self.loaded: list[bool] = []
        """Of each session whether it is exact."""
        self.session = _Ones()

    def export(self, module: object, example: Mapping[str, object], folder: Path) -> None:
        raise NotImplementedError

    def precision(self) -> str:
        return self.best

    def load(self, folder: Path, *, exact: bool) -> _Ones:
        if self.trouble is not None:
            raise self.trouble
        assert (folder / self.files[0]).read_text() == "numbers"
        self.loaded.append(exact)
        return self.session


def _export(draft: Path) -> ModelDescription:
    (draft / "model.plain").write_text("numbers")
    Tokenizer(models.WordLevel({"a": 0}, "a")).save(str(draft / TOKENIZER_FILE))
    return DESCRIPTION


def _accept(_: ExportedModel) -> None:
    """Trust every export."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    return tmp_path / "exports"


@pytest.fixture
def runtime() -> _Runtime:
    return _Runtime()


@pytest.fixture
def cache(exports: Path) -> ExportCache:
    return ExportCache(exports, batch_size=4)


def test_an_export_whose_files_cannot_be_read_just_now_is_kept(
    cache: ExportCache, exports: Path, model: Path, runtime: _Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.make(model, runtime, _export, _accept)
    (kept,) = exports.iterdir()
    plain = Path.open

    def refuse(path: Path, *arguments: Any, **named: Any) -> object:  # noqa: ANN401
        if path.name == "model.plain":
            raise OSError(errno.EMFILE, "Too many open files")
        return plain(path, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        with pytest.raises(OSError, match="Too many open files"):
            cache.load(model, runtime)
    assert list(exports.iterdir()) == [kept]
    assert cache.load(model, runtime) is not None


def test_a_damaged_export_is_deleted(cache: ExportCache, exports: Path, model: Path, runtime: _Runtime) -> None:
    for name in ("model.plain", TOKENIZER_FILE, "description.json"):
        for content in (None, "other", '{"files": []}'):
            cache.make(model, runtime, _export, _accept)
            (kept,) = exports.iterdir()
            (kept / name).unlink()
            if content is not None:
                (kept / name).write_text(content)
            assert cache.load(model, runtime) is None
            assert not list(exports.iterdir())


def test_an_export_that_the_folder_has_no_room_for_is_made_elsewhere(
    cache: ExportCache, exports: Path, model: Path, runtime: _Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    places = []

    def export(draft: Path) -> ModelDescription:
        places.append(draft)
        if draft.parent == exports:
            raise OSError(errno.ENOSPC, "No space left on device")
        return _export(draft)

    with caplog.at_level(logging.WARNING):
        made = cache.make(model, runtime, export, _accept)
    assert made.dimension == 2
    assert "cannot be cached ([Errno 28] No space left on device)" in caplog.text
    assert not list(exports.iterdir())
    assert places[-1].is_dir()
    cache.close()
    assert not places[-1].exists()


@pytest.mark.parametrize(("longest", "widths"), [(64, [16, 16, 32, 48, 64]), (40, [16, 16, 32, 40])])
def test_batches_are_padded_to_full_blocks_up_to_the_limit_of_the_model(
    longest: int, widths: list[int], tmp_path: Path
) -> None:
    """In half precision, sums depend on blocks of tokens. In full blocks a vector does not depend on the batch."""
    session = _Ones()
    tokenizer = Tokenizer(models.WordLevel({"a": 0}, "a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / TOKENIZER_FILE))
    description = dataclasses.replace(DESCRIPTION, max_tokens=longest, prompts={"query": ""})
    exported = ExportedModel(description, LibraryTokenizer(tmp_path / TOKENIZER_FILE), session, batch_size=4)

    exported.embed(["a " * tokens for tokens in (1, 16, 17, 48, 33, 100, 2, 3, 4)], "query")

    # No text is padded because of another, and at most four share a batch.
    assert sorted(session.widths) == widths
