"""A cache of exported models in a folder."""

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

# Increase this when the export of a model changes.
_FORMAT = 2
_DESCRIPTION_FILE = "description.json"
# Packages that determine an export, besides the runtime's package.
_MAKERS = ("torch", "transformers", "sentence-transformers")
# Suffixes of a model's files; the other files in its folder are documentation.
_MODEL_FILES = frozenset({".json", ".safetensors", ".bin", ".txt", ".model", ".py"})

_HASH = "sha256"
# Prefix of incomplete or discarded exports, and the maximum duration of an export in seconds.
_DRAFT = "draft-"
_DRAFT_LIFE = timedelta(days=1).total_seconds()
# An upgrade of a package leaves exports that nothing loads any more.
_UNUSED_DAYS = 90
_UNUSED_LIFE = timedelta(days=_UNUSED_DAYS).total_seconds()


# Name of an export; the folder may contain other files.
_NAME = re.compile(r"[a-z]+-\d+-[0-9a-f]{64}")


class _DamageError(ExportError):
    """A file of an export is damaged or missing."""


class ExportCache:
    """Exports by a hash of the model's files and of the versions of the exporting packages.

    A complete export is renamed to its final name, so processes may share the folder. A damaged export is deleted and
    the model is exported again. If the folder cannot be written, an export lives as long as the process. The log has a
    warning for both cases. A new export also deletes exports that no process has loaded for 90 days.
    """

    def __init__(self, folder: Path, batch_size: int, *, exact: bool = False) -> None:
        """Set the folder. The first export creates it.

        Args:
            folder: folder of the exports; it may be deleted at any time.
            batch_size: texts in a batch of an exported model.
            exact: whether models run in single precision even if the processor has a faster one.
        """
        self._folder = folder
        self._batch_size = batch_size
        self._exact = exact
        # Temporary folders of exports that could not be written to the cache's folder.
        self._passing: list[tempfile.TemporaryDirectory[str]] = []

    def load_bundled(self, runtime: Runtime) -> ExportedModel | None:
        """Return the bundled model, or None if it was not exported for `runtime`.

        Raises:
            OSError: a file cannot be read.
            ExportError: the runtime cannot load the model.
        """
        return load_bundled(runtime, self._batch_size, exact=self._exact)

    def load(self, model_folder: Path, runtime: Runtime) -> ExportedModel | None:
        """Return the cached export of the model in a folder, None if there is none or it is damaged.

        Raises:
            OSError: a file cannot be read. This does not mean that it is damaged.
            ExportError: the runtime cannot load the undamaged export.
        """
        self._tidy()
        place = self._place(model_folder, runtime)
        if not place.is_dir():
            return None
        try:
            description = _checked(place, runtime)
        except _DamageError as error:
            _log.warning("exported model %s is damaged and will be exported again (%s)", place, error)
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
        """Export a model, cache the export if the folder is writable, and return it.

        Args:
            model_folder: the model's files.
            runtime: the runtime of the export.
            export: writes the export's files into a folder.
            verify: raises ExportError if the export computes other vectors than the model. Such an export is not
                cached. If it passes in single precision only, it always runs in single precision.

        Raises:
            OSError: not even a temporary export can be written.
            ExportError: the model cannot be exported, or the export does not pass `verify`.
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
            _log.warning("exported model %s cannot be cached (%s); choose another embedding.export_dir", place, error)
        self._passing.append(tempfile.TemporaryDirectory(prefix="neurogated-", ignore_cleanup_errors=True))
        return made(Path(self._passing[-1].name))

    def close(self) -> None:
        """Delete temporary exports."""
        while self._passing:
            self._passing.pop().cleanup()

    def _verified(
        self,
        draft: Path,
        runtime: Runtime,
        description: ModelDescription,
        verify: Callable[[ExportedModel], None],
    ) -> ModelDescription:
        """Return the description with the precision in which the export passes `verify`. Raises ExportError."""
        try:
            verify(self._load(draft, runtime, description, exact=False))
        except ExportError as error:
            if runtime.precision() == SINGLE:
                raise
            _log.warning("the exported model runs in single precision, not in %s (%s)", runtime.precision(), error)
            description = dataclasses.replace(description, exact=True)
            verify(self._load(draft, runtime, description, exact=True))
        return description

    def _place(self, model_folder: Path, runtime: Runtime) -> Path:
        key = hashlib.new(_HASH)
        for path in sorted(path for path in model_folder.rglob("*") if path.suffix in _MODEL_FILES and path.is_file()):
            key.update(f"{path.relative_to(model_folder).as_posix()} {_digest(path)}\n".encode())
        for package in (*_MAKERS, runtime.package):
            key.update(f"{package} {_version(package)}\n".encode())
        # An export is verified in the precision of one processor, and machines that share the folder may differ.
        key.update(f"precision {runtime.precision()}\n".encode())
        return self._folder / f"{runtime.name}-{_FORMAT}-{key.hexdigest()}"

    @contextlib.contextmanager
    def _draft(self) -> Iterator[Path]:
        """Provide an empty folder beside the exports; delete it at the end unless it was renamed. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=self._folder))
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _keep(self, draft: Path, place: Path) -> Path:
        """Rename the draft to its final name if it is in the cache's folder; return the path of the export."""
        if draft.parent != place.parent:
            return draft
        try:
            return draft.rename(place)
        except OSError:
            # Another process has written the same export.
            if place.is_dir():
                return place
            raise

    def _discard(self, place: Path) -> None:
        """Delete an export. Renaming it first prevents other processes from loading a partly deleted export."""
        aside = place.with_name(f"{_DRAFT}{uuid4().hex}")
        with contextlib.suppress(OSError):
            place.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)

    def _drop_unused(self) -> None:
        """Delete exports that no process has loaded for a long time."""
        with contextlib.suppress(OSError):
            for place in self._folder.iterdir():
                if _NAME.fullmatch(place.name) and time.time() - place.stat().st_mtime > _UNUSED_LIFE:
                    _log.info("deleting exported model %s, which was not used for %d days", place, _UNUSED_DAYS)
                    self._discard(place)

    def _tidy(self) -> None:
        """Delete the drafts of interrupted exports."""
        for draft in self._folder.glob(f"{_DRAFT}*"):
            with contextlib.suppress(OSError):
                if time.time() - draft.stat().st_mtime > _DRAFT_LIFE:
                    shutil.rmtree(draft, ignore_errors=True)

    def _load(self, place: Path, runtime: Runtime, description: ModelDescription, *, exact: bool) -> ExportedModel:
        """Return the model after a first inference; the caller holds `LOADING`."""
        session = runtime.load(place, exact=exact or description.exact)
        model = ExportedModel(description, LibraryTokenizer(place / TOKENIZER_FILE), session, self._batch_size)
        model.embed([""], "document")
        return model


def _checked(place: Path, runtime: Runtime) -> ModelDescription:
    """Check the files of an export, and return its description.

    Raises:
        _DamageError: a file is damaged or missing.
        OSError: a file exists, but cannot be read.
    """
    try:
        values = json.loads((place / _DESCRIPTION_FILE).read_text(encoding="utf-8"))
        for name in (*runtime.files, TOKENIZER_FILE):
            if _digest(place / name) != values["files"][name]:
                raise _DamageError(f"{name} does not match its checksum")
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
