"""Exported models kept in a folder, each made once."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid4

from neurogated.embedding.bundled_model import load_bundled
from neurogated.embedding.exported_model import ExportedModel, ModelDescription
from neurogated.embedding.library_tokenizer import TOKENIZER_FILE, LibraryTokenizer
from neurogated.embedding.runtimes import SINGLE, ExportError, Runtime

__all__ = ["ExportCache"]

_log = logging.getLogger(__name__)

# Raised when the same model is exported in another way.
_FORMAT = 2
_DESCRIPTION_FILE = "description.json"
# What makes an export, besides the runtime's own package.
_MAKERS = ("torch", "transformers", "sentence-transformers")
# What a model consists of; the rest of its folder describes it.
_MODEL_FILES = frozenset({".json", ".safetensors", ".bin", ".txt", ".model", ".py"})

_HASH = "sha256"
# What is not a whole export yet, or no longer, and how many seconds it may take at most to make one.
_DRAFT = "draft-"
_DRAFT_LIFE = timedelta(days=1).total_seconds()
# An upgrade of a package leaves exports that nothing loads any more.
_UNUSED_DAYS = 90
_UNUSED_LIFE = timedelta(days=_UNUSED_DAYS).total_seconds()


# Of an export; the folder may hold other things.
_NAME = re.compile(r"[a-z]+-\d+-[0-9a-f]{64}")


class _DamageError(ExportError):
    """An export is not what was written, or not all of it is there."""


class ExportCache:
    """Exports under the hash of the model's files and the versions of what made them.

    An export takes its name when it is whole, so that processes may share the folder. One that is damaged is made
    anew, and where the folder cannot be written an export lives as long as the process; either is a line in the log.
    Making an export deletes those that no process has loaded for 90 days, so the folder holds no more than the models
    that were used in that time.
    """

    def __init__(self, folder: Path, batch_size: int, *, exact: bool = False) -> None:
        """Name the folder; it is made when there is something to keep.

        Args:
            folder: where the exports are; it may be deleted at any time.
            batch_size: texts that an exported model takes at once.
            exact: whether models run in single precision even where the processor has a quicker one.
        """
        self._folder = folder
        self._batch_size = batch_size
        self._exact = exact
        # Keeps alive what could not be written into the folder.
        self._passing: list[tempfile.TemporaryDirectory[str]] = []

    def load_bundled(self, runtime: Runtime) -> ExportedModel | None:
        """Return the model that comes with this package, or None if it was not exported for `runtime`.

        Raises:
            OSError: a file cannot be read.
            ExportError: the runtime cannot load the model.
        """
        return load_bundled(runtime, self._batch_size, exact=self._exact)

    def load(self, model_folder: Path, runtime: Runtime) -> ExportedModel | None:
        """Return the export of the model in a folder, None where there is none, or none that is sound.

        Raises:
            OSError: a file cannot be read, which says nothing of what it holds.
            ExportError: the runtime cannot load the export, sound as it is.
        """
        self._tidy()
        place = self._place(model_folder, runtime)
        if not place.is_dir():
            return None
        try:
            description = _checked(place, runtime)
        except _DamageError as error:
            _log.warning("exported model %s is damaged and made anew (%s)", place, error)
            self._discard(place)
            return None
        with contextlib.suppress(OSError):
            os.utime(place)
        return self._load(place, runtime, description, exact=self._exact)

    def make(
        self,
        model_folder: Path,
        runtime: Runtime,
        export: Callable[[Path], ModelDescription],
        verify: Callable[[ExportedModel], None],
    ) -> ExportedModel:
        """Return a new export of a model, kept if it can be.

        Args:
            model_folder: the model's files.
            runtime: what is to run it.
            export: writes the export's files into a folder.
            verify: raises ExportError where the export is not as it should be; such a one is not kept. One that is so
                in single precision only runs in single precision from then on.

        Raises:
            OSError: there is no room for the export, not even for a passing one.
            ExportError: it cannot be made, or is not as it should be.
        """
        place = self._place(model_folder, runtime)

        def made(draft: Path) -> ExportedModel:
            description = self._verified(draft, runtime, export(draft), verify)
            files = {name: _digest(draft / name) for name in (*runtime.files, TOKENIZER_FILE)}
            text = json.dumps({"files": files, "model": description.to_dict()}, indent=1)
            (draft / _DESCRIPTION_FILE).write_text(text, encoding="utf-8")
            kept = self._keep(draft, place)
            self._drop_unused()
            return self._load(kept, runtime, _checked(kept, runtime), exact=self._exact)

        try:
            with self._draft() as draft:
                return made(draft)
        except OSError as error:
            _log.warning("exported model %s cannot be kept (%s); choose another embedding_export_dir", place, error)
        self._passing.append(tempfile.TemporaryDirectory(prefix="neurogated-", ignore_cleanup_errors=True))
        return made(Path(self._passing[-1].name))

    def close(self) -> None:
        """Delete exports that could not be kept."""
        while self._passing:
            self._passing.pop().cleanup()

    def _verified(
        self,
        draft: Path,
        runtime: Runtime,
        description: ModelDescription,
        verify: Callable[[ExportedModel], None],
    ) -> ModelDescription:
        """Return the description of an export with the precision in which it is as it should be; raises ExportError."""
        try:
            verify(self._load(draft, runtime, description, exact=False))
        except ExportError as error:
            if runtime.precision() == SINGLE:
                raise
            _log.warning("exported model runs in single precision, not in %s (%s)", runtime.precision(), error)
            description = dataclasses.replace(description, exact=True)
            verify(self._load(draft, runtime, description, exact=True))
        return description

    def _place(self, model_folder: Path, runtime: Runtime) -> Path:
        key = hashlib.new(_HASH)
        for path in sorted(path for path in model_folder.rglob("*") if path.suffix in _MODEL_FILES and path.is_file()):
            key.update(f"{path.relative_to(model_folder).as_posix()} {_digest(path)}\n".encode())
        for package in (*_MAKERS, runtime.package):
            key.update(f"{package} {_version(package)}\n".encode())
        # Processors that share the folder may differ, and an export was verified in the precision of one.
        key.update(f"precision {runtime.precision()}\n".encode())
        return self._folder / f"{runtime.name}-{_FORMAT}-{key.hexdigest()}"

    @contextlib.contextmanager
    def _draft(self) -> Iterator[Path]:
        """Give an empty folder beside the exports, of which nothing stays that has not been renamed; raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self._folder))
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _keep(self, draft: Path, place: Path) -> Path:
        """Give the draft its name, if it has a place to go; return where the export is now."""
        if draft.parent != place.parent:
            return draft
        try:
            return draft.rename(place)
        except OSError:
            # Another process was quicker.
            if place.is_dir():
                return place
            raise

    def _discard(self, place: Path) -> None:
        """Delete an export, which loses its name first, so that no other process takes up what is left of it."""
        aside = place.with_name(f"{_DRAFT}{uuid4().hex}")
        with contextlib.suppress(OSError):
            place.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)

    def _drop_unused(self) -> None:
        """Delete exports that no process has loaded for a long time."""
        with contextlib.suppress(OSError):
            for place in self._folder.iterdir():
                if _NAME.fullmatch(place.name) and time.time() - place.stat().st_mtime > _UNUSED_LIFE:
                    _log.info("exported model %s was not used for %d days and is deleted", place, _UNUSED_DAYS)
                    self._discard(place)

    def _tidy(self) -> None:
        """Delete what exports that were interrupted have left."""
        for draft in self._folder.glob(f"{_DRAFT}*"):
            with contextlib.suppress(OSError):
                if time.time() - draft.stat().st_mtime > _DRAFT_LIFE:
                    shutil.rmtree(draft, ignore_errors=True)

    def _load(self, place: Path, runtime: Runtime, description: ModelDescription, *, exact: bool) -> ExportedModel:
        """Return the model after a first inference in this thread, which holds `LOADING`."""
        session = runtime.load(place, exact=exact or description.exact)
        model = ExportedModel(description, LibraryTokenizer(place / TOKENIZER_FILE), session, self._batch_size)
        model.embed([""], "document")
        return model


def _checked(place: Path, runtime: Runtime) -> ModelDescription:
    """Return what is written of an export whose files are what was written.

    Raises:
        _DamageError: they are not.
        OSError: a file is there, but cannot be read.
    """
    try:
        values = json.loads((place / _DESCRIPTION_FILE).read_text(encoding="utf-8"))
        for name in (*runtime.files, TOKENIZER_FILE):
            if _digest(place / name) != values["files"][name]:
                raise _DamageError(f"{name} is not what was written")
        return ModelDescription.from_dict(values["model"])
    except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
        raise _DamageError(str(error)) from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, _HASH).hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
