"""What becomes of exports that are sound, damaged, unfinished, or have no room."""

import errno
import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models

from neurogated.embedding.export_cache import ExportCache
from neurogated.embedding.exported_model import TOKENIZER_FILE, ExportedModel, ModelDescription
from neurogated.embedding.runtimes import ExportError

DAY = 24 * 60 * 60
DESCRIPTION = ModelDescription(("input_ids",), 2, 8, {"input_ids": 0}, pads_left=False, prompts={})


class _Ones:
    """Runs a model whose every vector is (1, 1)."""

    concurrency = 1

    def run(self, inputs: Mapping[str, NDArray[np.int64]]) -> NDArray[np.float32]:
        return np.ones((len(inputs["input_ids"]), 2), dtype=np.float32)


class _Runtime:
    """Loads exports, unless `trouble` stands in the way."""

    name = "plain"
    package = "numpy"
    files: tuple[str, ...] = ("model.plain",)

    def __init__(self) -> None:
        self.trouble: Exception | None = None

    def export(self, module: object, example: Mapping[str, object], folder: Path) -> None:
        raise NotImplementedError

    def load(self, folder: Path) -> _Ones:
        if self.trouble is not None:
            raise self.trouble
        assert (folder / self.files[0]).read_text() == "numbers"
        return _Ones()


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


@pytest.mark.parametrize("trouble", [OSError(errno.EMFILE, "Too many open files"), ExportError("no memory")])
def test_a_sound_export_that_cannot_be_loaded_just_now_is_kept(
    cache: ExportCache, exports: Path, model: Path, runtime: _Runtime, trouble: Exception
) -> None:
    cache.make(model, runtime, _export, _accept)
    (kept,) = exports.iterdir()
    runtime.trouble = trouble
    with pytest.raises(type(trouble), match=str(trouble.args[-1])):
        cache.load(model, runtime)
    runtime.trouble = None
    assert list(exports.iterdir()) == [kept]
    assert cache.load(model, runtime) is not None


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


def test_what_interrupted_exports_left_is_deleted_after_a_day(
    cache: ExportCache, exports: Path, model: Path, runtime: _Runtime
) -> None:
    cache.make(model, runtime, _export, _accept)
    (kept,) = exports.iterdir()
    ages = {"draft-old": DAY + 60, "draft-young": DAY - 60}
    for name, age in ages.items():
        (exports / name).mkdir()
        (exports / name / "model.plain").write_text("num")
        os.utime(exports / name, (time.time() - age,) * 2)
    os.utime(kept, (0, 0))
    assert cache.load(model, runtime) is not None
    assert {path.name for path in exports.iterdir()} == {kept.name, "draft-young"}


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
    assert "cannot be kept ([Errno 28] No space left on device)" in caplog.text
    assert not list(exports.iterdir())
    assert places[-1].is_dir()
    cache.close()
    assert not places[-1].exists()
