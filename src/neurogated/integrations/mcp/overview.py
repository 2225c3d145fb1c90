"""`Overview`: the manifest of one owner, as a server shows it."""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path

from neurogated.core.files import replace_file
from neurogated.errors import NeurogatedError
from neurogated.integrations.mcp.prepared import Saved
from neurogated.integrations.mcp.tools import Owner
from neurogated.memory import NeuroGraphMemory

_log = logging.getLogger(__name__)


class Overview:
    """What a server shows of its memory. It changes as seldom as the manifest does, also when the process is restarted.

    Every change of a tool's description costs the client its prompt cache.
    """

    def __init__(self, memory: NeuroGraphMemory, owner: Owner, saved: Saved | None) -> None:
        """Take the text that the client has seen; None if it has seen nothing."""
        self._memory, self._owner = memory, owner
        self.is_shown, self._saved = saved is not None, saved or Saved()
        self._shown: str = self._saved.text
        self._current: str | None = None

    def text(self) -> str:
        """Return the manifest; an empty text if there are no memories."""
        try:
            current = self._memory.manifest.text(**self._owner._asdict()) if self._count() else ""
        except NeurogatedError as error:
            _log.warning("the manifest is left out: %s", error)
            return ""
        if current != self._current and (self._current is not None or not self._fits()):
            self._shown = current
            self._save()
        self._current = current
        return self._shown

    def has_changed(self) -> bool:
        """Return whether the text is another than before."""
        before = self._shown
        return self.text() != before

    def _count(self) -> int:
        return self._memory.manifest.get(**self._owner._asdict()).nodes

    def _fits(self) -> bool:
        """Return whether the saved text may stay: deletions remove its file, and few memories are new."""
        known = self._saved.nodes
        if self._saved.file is None or not self._saved.file.exists():
            return False
        return 0 <= self._count() - known < (self._memory.config.manifest.update_threshold if known else 1)

    def _save(self) -> None:
        file, config = self._saved.file, self._memory.config
        if file is None or config.read_only or file.parent.parent.resolve() != Path(config.save_dir).resolve():
            return
        # A server works as well in a folder in which it cannot write this file.
        with contextlib.suppress(OSError):
            replace_file(file, json.dumps({"nodes": self._count(), "text": self._shown}))
