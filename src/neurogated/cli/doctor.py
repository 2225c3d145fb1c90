"""`doctor`: check the installation, and say how to repair it."""

from __future__ import annotations

import argparse
import importlib.util
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import neurogated
from neurogated.cli.opening import config_of
from neurogated.cli.output import emit
from neurogated.compose import build_language_model, build_text_embedder
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.accelerator import has_accelerator
from neurogated.errors import NeurogatedError
from neurogated.memory import NeuroGraphMemory
from neurogated.storage.registry import memory_exists

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated doctor
  neurogated doctor --save_dir my_agent --llm_base_url http://localhost:8000/v1 --llm_name my-model
"""
_LEAST_FREE_GIB = 1.0
_GIB = 2**30
_MILLISECONDS = 1000


class _Finding(NamedTuple):
    part: str
    works: bool
    detail: str
    remedy: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no flags: `doctor` checks the settings that every command takes."""
    del parser


def command(arguments: argparse.Namespace) -> int:
    """Check each part; the exit code is 1 if one does not work."""
    config = config_of(arguments)
    findings = []
    for part, check in _CHECKS.items():
        try:
            findings += [_Finding(part, works, *texts) for works, *texts in check(config)]
        except NeurogatedError as error:
            findings.append(_Finding(part, works=False, detail=str(error)))
    works = all(finding.works for finding in findings)
    emit(arguments, {"works": works, "findings": [finding._asdict() for finding in findings]}, _text(findings))
    return 0 if works else 1


def _text(findings: list[_Finding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{'ok ' if finding.works else 'BAD'}  {finding.part:<15} {finding.detail}")
        lines += [f"{'':21}remedy: {finding.remedy}"] if finding.remedy else []
    broken = sum(not finding.works for finding in findings)
    return "\n".join([*lines, "", "everything works" if not broken else f"{broken} of {len(findings)} do not work"])


_Result = tuple[bool, str] | tuple[bool, str, str]


def _program(_: MemoryConfig) -> Iterator[_Result]:
    yield True, f"neurogated {neurogated.__version__}, Python {platform.python_version()}, {sys.platform}"


def _embedding(config: MemoryConfig) -> Iterator[_Result]:
    begin = time.perf_counter()
    embedder = build_text_embedder(config)
    loaded = time.perf_counter()
    (vector,) = embedder.embed_queries(["Does the model run?"])
    took = time.perf_counter() - loaded
    yield True, f"{embedder.name}: {vector.size} dimensions, first text after {took + loaded - begin:.1f} s"


def _writing(config: MemoryConfig) -> Iterator[_Result]:
    """Write and read a memory in a temporary folder beside the real one, on the same file system."""
    if config.storage == "memory":
        yield True, "the memory is kept in the process; nothing is written"
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
    yield bool(found), f"a memory was written and read in {beside}"
    free = shutil.disk_usage(beside).free / _GIB
    enough = free >= _LEAST_FREE_GIB
    yield enough, f"{free:.1f} GiB free", *(() if enough else ("free some space, or choose another --save_dir",))


def _memory(config: MemoryConfig) -> Iterator[_Result]:
    if config.storage == "memory" or not memory_exists(config):
        yield True, f"none yet in {config.save_dir}"
        return
    # The language model has a check of its own.
    plain = config.replace(read_only=True, force_index_from_scratch=False, llm={"use": "off"})
    begin = time.perf_counter()
    with NeuroGraphMemory(plain) as memory:
        count = memory.stats()["nodes"]
    took = (time.perf_counter() - begin) * _MILLISECONDS
    yield True, f"{count} memories in {config.save_dir}, opened in {took:.0f} ms; `neurogated check` examines them"


def _gpu(_: MemoryConfig) -> Iterator[_Result]:
    if importlib.util.find_spec("torch") is None:
        yield True, "torch is not installed; models run on the CPU. For a GPU: pip install 'neurogated[gpu]'"
    else:
        yield True, "torch sees a GPU" if has_accelerator() else "torch sees no GPU; models run on the CPU"


def _language_model(config: MemoryConfig) -> Iterator[_Result]:
    model = build_language_model(config)
    if model is None:
        yield (
            True,
            "none configured; questions, causes and names are judged offline"
            + (
                ""
                if importlib.util.find_spec("openai")
                else ". For an OpenAI-compatible server, also a local one: pip install 'neurogated[openai]'"
            ),
        )
        return
    try:
        answer, _ = model.infer([{"role": "user", "content": "Reply with the word: ready"}])
    except NeurogatedError as error:
        yield False, f"{model.name}: {error}", "start the server, or correct --llm_base_url, --llm_name or the key"
    else:
        yield True, f"{model.name} answered: {answer.strip()[:40]}"
    finally:
        model.close()


_CHECKS: dict[str, Callable[[MemoryConfig], Iterator[_Result]]] = {
    "program": _program,
    "embedding model": _embedding,
    "GPU": _gpu,
    "disk": _writing,
    "memory": _memory,
    "language model": _language_model,
}
