"""`doctor`: check the installation, and say how to repair it."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import neurogated
from neurogated.cli.flags import command
from neurogated.cli.opening import Flags
from neurogated.cli.output import counted
from neurogated.compose import build_language_model, build_text_embedder
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.accelerator import has_accelerator
from neurogated.errors import NeurogatedError
from neurogated.memory import NeuroGraphMemory
from neurogated.storage.registry import memory_exists

__all__ = ["doctor"]

_LEAST_FREE_GIB = 1.0
_GIB = 2**30
_OPENAI = "For an OpenAI-compatible server, also a local one: pip install 'neurogated[openai]'"

_Finding = tuple[bool, str, str]
"""Whether a part works, what was found, and the remedy if there is one."""


@command("doctor")
def doctor(flags: Flags) -> int:
    config = flags.memory_config()
    findings: list[dict[str, object]] = []
    for part, check in _CHECKS.items():
        try:
            found = list(check(config))
        except NeurogatedError as error:
            found = [(False, str(error), "")]
        findings += [{"part": part, **dict(zip(("works", "detail", "remedy"), one, strict=True))} for one in found]
    lines = []
    for one in findings:
        lines.append(f"{'ok ' if one['works'] else 'BAD'}  {one['part']:<15} {one['detail']}")
        lines += [f"{'':21}remedy: {one['remedy']}"] if one["remedy"] else []
    broken = sum(not one["works"] for one in findings)
    verdict = f"{broken} of {len(findings)} do not work" if broken else "everything works"
    flags.emit({"works": not broken, "findings": findings}, "\n".join((*lines, "", verdict)))
    return 1 if broken else 0


def _program(_: MemoryConfig) -> Iterator[_Finding]:
    yield True, f"neurogated {neurogated.__version__}, Python {platform.python_version()}, {sys.platform}", ""


def _embedding(config: MemoryConfig) -> Iterator[_Finding]:
    begin = time.perf_counter()
    embedder = build_text_embedder(config)
    (vector,) = embedder.embed_queries(["Does the model run?"])
    took = f"{time.perf_counter() - begin:.1f} s"
    yield True, f"{embedder.name}: {vector.size} dimensions, first text after {took}", ""


def _gpu(_: MemoryConfig) -> Iterator[_Finding]:
    if importlib.util.find_spec("torch") is None:
        yield True, "torch is not installed; models run on the CPU. For a GPU: pip install 'neurogated[gpu]'", ""
    else:
        yield True, "torch sees a GPU" if has_accelerator() else "torch sees no GPU; models run on the CPU", ""


def _disk(config: MemoryConfig) -> Iterator[_Finding]:
    """Write and read a memory in a temporary folder beside the real one, on the same file system."""
    if config.storage == "memory":
        yield True, "the memory is kept in the process; nothing is written", ""
        return
    folder = Path(config.save_dir).absolute()
    beside = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    try:
        with tempfile.TemporaryDirectory(prefix=".neurogated-doctor-", dir=beside) as temporary:
            plain = MemoryConfig(save_dir=temporary, embedding_name="hash")
            with NeuroGraphMemory(plain) as memory:
                memory.add("The doctor was here.")
            with NeuroGraphMemory(plain) as memory:
                found = memory.retrieve("Who was here?")
    except OSError as error:
        yield False, f"{beside} cannot be written ({error})", "choose another folder with --save_dir"
        return
    yield bool(found), f"a memory was written and read in {beside}", ""
    free = shutil.disk_usage(beside).free / _GIB
    enough = free >= _LEAST_FREE_GIB
    yield enough, f"{free:.1f} GiB free", "" if enough else "free some space, or choose another --save_dir"


def _memory(config: MemoryConfig) -> Iterator[_Finding]:
    if config.storage == "memory" or not memory_exists(config):
        yield True, f"none yet in {config.save_dir}", ""
        return
    # The language model has a check of its own.
    plain = config.replace(read_only=True, force_index_from_scratch=False, llm={"use": "off"})
    with NeuroGraphMemory(plain) as memory:
        count = counted(int(memory.stats()["nodes"]), "memories")
    yield True, f"{count} in {config.save_dir}; `neurogated check` examines them", ""


def _language_model(config: MemoryConfig) -> Iterator[_Finding]:
    model = build_language_model(config)
    if model is None:
        extra = "" if importlib.util.find_spec("openai") else f". {_OPENAI}"
        yield True, f"none configured; questions, causes and names are judged offline{extra}", ""
        return
    try:
        answer, _ = model.infer([{"role": "user", "content": "Reply with the word: ready"}])
    except NeurogatedError as error:
        remedy = "start the server, or correct --llm_base_url, --llm_name or the key"
        yield False, f"{model.name}: {error}", remedy
    else:
        yield True, f"{model.name} answered: {answer.strip()[:40]}", ""
    finally:
        model.close()


_CHECKS = {
    "program": _program,
    "embedding model": _embedding,
    "GPU": _gpu,
    "disk": _disk,
    "memory": _memory,
    "language model": _language_model,
}
