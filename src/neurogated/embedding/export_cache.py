"""Exported models kept in a folder, each made once."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from neurogated.embedding.exported_model import TOKENIZER_FILE, ExportedModel, ModelDescription
from neurogated.embedding.runtimes import ExportError, Runtime

__all__ = ["ExportCache"]

_log = logging.getLogger(__name__)

# Raised when the same model is exported in another way.
_FORMAT = 1
_DESCRIPTION_FILE = "description.json"
# What makes an export, besides the runtime's own package.
_MAKERS = ("torch", "transformers", "sentence-transformers")
# What a model consists of; the rest of its folder describes it.
_MODEL_FILES = frozenset({".json", ".safetensors", ".bin", ".txt", ".model", ".py"})

_HASH = "sha256"


class ExportCache:
    """Exports under the hash of the model's files and the versions of what made them.

    An export takes its name when it is whole, so that processes may share the folder. One that is damaged is made
    anew, and where the folder cannot be written an export lives as long as the process; either is a line in the log.
    """

    def __init__(self, folder: Path, batch_size: int) -> None:
        """Name the folder; it is made when there is something to keep.

        Args:
            folder: where the exports are; it may be deleted at any time.
            batch_size: texts that an exported model takes at once.
        """
        self._folder = folder
        self._batch_size = batch_size
        # Keeps alive what could not be written into the folder.
        self._passing: list[tempfile.TemporaryDirectory[str]] = []

    def load(self, model_folder: Path, runtime: Runtime) -> ExportedModel | None:
        """Return the export of the model in a folder, None where there is none, or none that is sound."""
        place = self._place(model_folder, runtime)
        if not place.is_dir():
            return None
        try:
            return self._load(place, runtime)
        except (OSError, ValueError, KeyError, TypeError, ExportError) as error:
            _log.warning("exported model %s is damaged and made anew (%s)", place, error)
            shutil.rmtree(place, ignore_errors=True)
            return None

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
            verify: raises ExportError where the export is not as it should be; such a one is not kept.
        """
        place = self._place(model_folder, runtime)
        draft = self._draft(place)
        try:
            description = export(draft)
            files = {name: _digest(draft / name) for name in (*runtime.files, TOKENIZER_FILE)}
            text = json.dumps({"files": files, "model": description.to_dict()}, indent=1)
            (draft / _DESCRIPTION_FILE).write_text(text, encoding="utf-8")
            verify(self._load(draft, runtime))
            return self._load(self._keep(draft, place), runtime)
        finally:
            if draft.parent == place.parent:
                shutil.rmtree(draft, ignore_errors=True)

    def close(self) -> None:
        """Delete exports that could not be kept."""
        while self._passing:
            self._passing.pop().cleanup()

    def _place(self, model_folder: Path, runtime: Runtime) -> Path:
        key = hashlib.new(_HASH)
        for path in sorted(path for path in model_folder.rglob("*") if path.suffix in _MODEL_FILES and path.is_file()):
            key.update(f"{path.relative_to(model_folder).as_posix()} {_digest(path)}\n".encode())
        for package in (*_MAKERS, runtime.package):
            key.update(f"{package} {_version(package)}\n".encode())
        return self._folder / f"{runtime.name}-{_FORMAT}-{key.hexdigest()}"

    def _draft(self, place: Path) -> Path:
        """Return an empty folder beside `place`, or a passing one where there can be none."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix="draft-", dir=self._folder))
        except OSError as error:
            _log.warning("exported model %s cannot be kept (%s); choose another embedding_export_dir", place, error)
            self._passing.append(tempfile.TemporaryDirectory(prefix="neurogated-", ignore_cleanup_errors=True))
            return Path(self._passing[-1].name)

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

    def _load(self, place: Path, runtime: Runtime) -> ExportedModel:
        values = json.loads((place / _DESCRIPTION_FILE).read_text(encoding="utf-8"))
        for name in (*runtime.files, TOKENIZER_FILE):
            if _digest(place / name) != values["files"][name]:
                raise ExportError(f"{name} is not what was written")
        description = ModelDescription.from_dict(values["model"])
        return ExportedModel(description, place / TOKENIZER_FILE, runtime.load(place), self._batch_size)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, _HASH).hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
