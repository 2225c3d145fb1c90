"""A fresh process that adds turns to a memory: `cold_writer.py FOLDER NUMBER TURNS EMBEDDER`.

It prints what its first write loaded, compiled or embedded while the lock of the memory was held.
"""

import re
import sys
import threading
from pathlib import Path
from typing import Any

import neurogated
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.embedding.cache import CachedEmbedder
from neurogated.storage.files import ProcessLock

_PACKAGE = str(Path(neurogated.__file__).parent)
_holder: list[int] = []
_done: list[str] = []


def _note(what: str) -> None:
    if threading.get_ident() in _holder:
        _done.append(what)


def _watch() -> None:
    acquire, release = ProcessLock.acquire, ProcessLock.release
    compile_pattern, embed = re._compiler.compile, CachedEmbedder.embed_documents  # type: ignore[attr-defined]

    def acquired(self: ProcessLock, *arguments: Any) -> None:  # noqa: ANN401
        acquire(self, *arguments)
        _holder.append(threading.get_ident())

    def released(self: ProcessLock) -> None:
        _holder.clear()
        release(self)

    def compiled(pattern: Any, *arguments: Any) -> Any:  # noqa: ANN401
        _note(f"compiled {pattern!r:.80}")
        return compile_pattern(pattern, *arguments)

    def embedded(self: CachedEmbedder, texts: Any) -> Any:  # noqa: ANN401
        _note(f"embedded {texts!r:.80}")
        return embed(self, texts)

    def audited(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import" or (event == "open" and str(arguments[0]).startswith(_PACKAGE)):
            _note(f"{event} {arguments[0]}")

    ProcessLock.acquire = acquired  # type: ignore[method-assign, assignment]
    ProcessLock.release = released  # type: ignore[method-assign, assignment]
    re._compiler.compile = compiled  # type: ignore[attr-defined]
    CachedEmbedder.embed_documents = embedded  # type: ignore[method-assign]
    sys.addaudithook(audited)


def main(folder: str, number: str, turns: str, embedder: str) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name=embedder)) as memory:
        _watch()
        for turn in range(int(turns)):
            said = {
                "role": "user",
                "content": f"Turn {turn} of {number}: I moved to Rome, since the mill closed in May.",
            }
            memory.add(said, user_id="ana", session_id="one")
        _holder.clear()
    sys.stdout.write("\n".join(_done))


if __name__ == "__main__":
    main(*sys.argv[1:])
