"""Whole memories and the installation: statistics, settings, checks, copies, and changes of the model."""

import ctypes
import dataclasses
import importlib.util
import json
import platform
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import click

import neurogated
from neurogated.archive.foreign import EXPORTS, FORMATS, PAM, read_file
from neurogated.archive.importing import ExportManifest, is_export
from neurogated.cli.flags import command, user
from neurogated.cli.opening import Flags, counted, picked
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import settings_of, value_of
from neurogated.core.clock import local
from neurogated.core.scope import ANY_USER
from neurogated.embedding.exported_model import has_accelerator
from neurogated.embedding.language_watch import finding_of
from neurogated.embedding.sentence_transformers_embedder import BUNDLED_MODEL, BUNDLED_NAMES
from neurogated.errors import NeurogatedError
from neurogated.ingestion.messages import read_message
from neurogated.memory import NeuroGraphMemory
from neurogated.session.administration import import_memory, move_memory, repair_memory, restore_snapshot
from neurogated.session.administration import migrate as change_model
from neurogated.session.compose import build_language_model, build_text_embedder
from neurogated.storage.registry import memory_exists

_WIDTH, _MMAP_THRESHOLD = 100, -3


@command("stats")
def stats(flags: Flags, memory: NeuroGraphMemory) -> None:
    found = memory.admin.stats()
    width = max(map(len, found))
    flags.emit(found, "\n".join(f"{name:<{width}}  {_figure(value)}" for name, value in found.items()))


def _figure(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_figure(part)}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if value is None:
        return "none"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


@command("settings", without="dataset")
@click.argument("word", default="")
def settings(flags: Flags, word: str) -> None:
    config = flags.config()
    wanted = [found for found in settings_of(MemoryConfig) if word.lower() in found.name.lower()]
    values = {found.name: value_of(config, found.name) for found in wanted}
    # A name such as "all-MiniLM-L6-v2" stays on one line.
    wrapper = textwrap.TextWrapper(_WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    lines: list[str] = []
    for found in wanted:
        value = values[found.name]
        changed = "" if value == found.spec.default else f" (default: {found.default})"
        lines += [f"{found.name} = {'none' if value is None else value}{changed}"]
        lines += wrapper.wrap(found.spec.metadata["help"])
    flags.emit(values, "\n".join(lines) or f"no setting has {word!r} in its name")


@command("users")
def users(flags: Flags, memory: NeuroGraphMemory) -> None:
    found, zone = memory.admin.people(), memory.config.zone
    lines = [
        f"{name}: {counted(count, 'memories')}, the newest of {local(at, zone):%Y-%m-%d %H:%M}"
        for name, (count, at) in found.items()
    ]
    shown = [{"user_id": name, "memories": count, "latest": at} for name, (count, at) in found.items()]
    flags.emit({"users": shown}, "\n".join(lines) or "no memory has a user")


@command("namespaces")
@click.option("--drop", metavar="NAME", help="remove the graph of this name; this cannot be undone")
def namespaces(flags: Flags, memory: NeuroGraphMemory, drop: str | None) -> None:
    if drop is not None:
        memory.admin.drop_namespace(drop)
    names = memory.admin.namespaces()
    flags.emit({"namespaces": names}, "\n".join(names))


@command("check")
@click.option("--repair", is_flag=True, help="make a file usable that another program rewrote, as by VACUUM")
def check(flags: Flags, *, repair: bool) -> int:
    if repair:
        repair_memory(flags.memory_config())
    with flags.open() as memory:
        problems = memory.admin.check()
    flags.emit({"problems": problems}, "\n".join(problems) or "the memory is sound")
    return 1 if problems else 0


@command("compact")
@click.option("--history", is_flag=True, help="also erase the texts that memories had before they were updated")
@click.option("--forget", metavar="PLACE", multiple=True, help="a server or file with copies that is gone")
def compact(flags: Flags, memory: NeuroGraphMemory, forget: Sequence[str], *, history: bool) -> None:
    erased = memory.admin.compact(history=history, forget=forget)
    flags.emit({"erased": erased}, counted(erased, "memories erased for good"))


@command("snapshot")
@click.argument("file")
def snapshot(flags: Flags, memory: NeuroGraphMemory, file: str) -> None:
    memory.admin.snapshot(file)
    flags.emit({"file": file}, f"wrote a snapshot of the memory to {file}")


@command("restore")
@click.argument("file")
@click.option("--replace", is_flag=True, help="replace the memory that is there")
def restore(flags: Flags, file: str, *, replace: bool) -> None:
    config = flags.memory_config()
    restore_snapshot(config, file, replace=replace)
    flags.emit({"save_dir": str(config.save_dir)}, f"the memory in {config.save_dir} is that of {file}")


@command("export")
@click.argument("folder")
@click.option("--to", "target", type=click.Choice(EXPORTS), help="the format of another system; pam is for one user")
@user("export only this user, to a new file of JSON lines")
def export(flags: Flags, folder: str, target: str | None) -> None:
    user_id = flags.owner["user_id"]
    if target == PAM and user_id is None:
        raise click.UsageError(f"--to {PAM} exports the memories of one user; name the user with --user_id")
    with flags.open() as memory:
        flags.note_unknown_user(memory)
        if target is not None:
            count = memory.admin.export_to(target, folder, user_id=user_id)
            items = memory.find(kinds=["item"], user_id=ANY_USER if user_id is None else user_id)
            left = sum("#" not in one.id and user_id in (None, one.scope.user_id) for one in items)
            told = counted(count, "memories") + (f"; {counted(left, 'items')} of a store left out" if left else "")
            flags.emit({"memories": count, "items_left_out": left}, f"exported to {folder}: {told}")
        elif user_id is not None:
            count = memory.admin.export_user(user_id, folder)
            flags.emit({"nodes": count}, f"exported to {folder}: {counted(count, 'nodes')}; to import it, --to {PAM}")
        else:
            _tell_copied(flags, f"exported to {folder}", memory.admin.export(folder))


@command("import")
@click.argument("file", metavar="FILE")
@click.option("--from", "source", type=click.Choice(tuple(FORMATS)), metavar="FORMAT", help="its format, if unclear")
@click.option("--branches", type=click.Choice(("seen", "all")), default="seen", help="branches of conversations")
@click.option("--include_private", is_flag=True, help="also what you asked the other system not to remember")
@click.option("--mirror", is_flag=True, help="delete what earlier imports had and the file no longer has")
@click.option("--report", metavar="FILE", help="write what was taken and left out to this file, as JSON")
@user("the owner of what another system wrote (default: the user that the file names)")
def import_(flags: Flags, file: str, source: str | None, report: str | None, **options: Any) -> int:  # noqa: ANN401
    if source is None and is_export(Path(file)):
        config = flags.memory_config()
        _tell_copied(flags, f"imported into {config.place}", import_memory(config, file))
        return 0
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        # Freed blocks of 64 kB and more return to the system. Otherwise, 20 MB of an export take 90 MB, not 66.
        libc.mallopt(_MMAP_THRESHOLD, 1 << 16)
    # A file of another kind raises an error before a memory is created.
    next(read_file(source, Path(file), read_message), None)
    with flags.open(create=True) as memory:
        done = memory.admin.import_from(source, file, user_id=flags.owner["user_id"], **options)
    found = dataclasses.asdict(done)
    if report is not None:
        Path(report).write_text(json.dumps(found, ensure_ascii=False, indent=2), encoding="utf-8")
    lines = [*done.notes, *done.shown]
    lines += [f"and {done.faults - len(done.shown)} more"] if done.faults > len(done.shown) else []
    lines += [f"{count:,} left out: {reason}" for reason, count in done.left_out.items()]
    lines += [f"{count:,} not taken from messages: {part}" for part, count in done.parts.items()]
    summary = f"{counted(done.texts, 'texts')}, {done.added} of them new; {counted(done.faults, 'parts')} not imported"
    changes = {"no longer valid": done.ended, "deleted": done.deleted}
    summary += "".join(f"; {counted(count, 'texts')} {what}" for what, count in changes.items() if count)
    flags.emit(found, "\n".join((*lines, f"imported from {file} ({done.source}): {summary}")))
    return 1 if done.faults else 0


@command("sync")
@click.argument("folder", metavar="FOLDER")
@click.option("--watch", is_flag=True, help="go on, and follow changes until you press Ctrl+C")
@user("the owner of the notes")
def sync(flags: Flags, folder: str, *, watch: bool) -> int:
    owner, faults = flags.owner["user_id"], 0
    with flags.open(create=True) as memory:
        visits = memory.admin.watch(folder, user_id=owner) if watch else [memory.admin.sync(folder, user_id=owner)]
        for done in visits:
            counts = {name: value for name, value in dataclasses.asdict(done).items() if isinstance(value, int)}
            told = ", ".join(f"{value} {name}" for name, value in counts.items())
            flags.emit(dataclasses.asdict(done), "\n".join((*done.faults, f"{folder}: {told}")))
            faults += len(done.faults)
    return 1 if faults else 0


@command("migrate")
@click.option("--to", "target", help="instead, copy the memory with its history to this storage, such as a URL")
def migrate(flags: Flags, target: str | None) -> None:
    config = flags.memory_config()
    if target is not None:
        place = config.replace(storage=target).place
        _tell_copied(flags, f"copied from {config.place} to {place}", move_memory(config, target))
        return
    texts = change_model(config)
    line = f"{counted(texts, 'texts')} embedded with" if texts else "the memory has vectors already of"
    flags.emit({"texts": texts}, f"{line} {config.embedding_name}")


def _tell_copied(flags: Flags, what: str, manifest: ExportManifest) -> None:
    """Print the graphs that were copied, with their counts."""
    namespaces = {one.name: picked(one, "deltas nodes edges") for one in manifest.namespaces}
    names = {"nodes": "nodes", "edges": "edges", "deltas": "changes"}
    counts = [counted(sum(one[name] for one in namespaces.values()), told) for name, told in names.items()]
    shown = {"embedder": manifest.embedder and manifest.embedder[0], "namespaces": namespaces}
    flags.emit(shown, f"{what}: {', '.join((counted(len(namespaces), 'namespaces'), *counts))}")


# The checks of `doctor`

_LEAST_FREE_GIB = 1.0
_GIB = 2**30
_OPENAI = "For an OpenAI-compatible server, also a local one: pip install 'neurogated[openai]'"

_LATEST = 100
"""Memories whose languages are looked at."""

_OF_AN_EXTRA = re.compile(r"(?P<package>[\w.-]+).*;.*\bextra == ['\"](?P<extra>[\w-]+)")
"""A package that an extra needs, in the metadata of the program."""
_OF_DEVELOPERS = frozenset({"dev", "docs", "testing"})


class _Finding(NamedTuple):
    part: str
    detail: str
    remedy: str = ""
    works: bool = True


@command("doctor")
def doctor(flags: Flags) -> int:
    config, findings, lines = flags.memory_config(), list[_Finding](), list[str]()
    for part, check in _CHECKS.items():
        try:
            findings += check(config)
        except NeurogatedError as error:
            findings.append(_Finding(part, str(error), works=False))
    for one in findings:
        lines.append(f"{'ok ' if one.works else 'BAD'}  {one.part:<15} {one.detail}")
        lines += [f"{'':21}remedy: {one.remedy}"] if one.remedy else []
    broken = sum(not one.works for one in findings)
    verdict = f"{broken} of {len(findings)} do not work" if broken else "everything works"
    shown = {"works": not broken, "findings": [one._asdict() for one in findings]}
    flags.emit(shown, "\n".join((*lines, "", verdict)))
    return 1 if broken else 0


def _embedding(config: MemoryConfig) -> Iterator[_Finding]:
    begin = time.perf_counter()
    embedder = build_text_embedder(config)
    (vector,) = embedder.embed_queries(["Does the model run?"])
    took = f"{time.perf_counter() - begin:.1f} s"
    yield _Finding("embedding model", f"{embedder.name}: {vector.size} dimensions, first text after {took}")


def _installation(_: MemoryConfig) -> Iterator[_Finding]:
    """Tell the versions, the extras that need a package which is not installed, and whether torch sees a GPU."""
    about = f"neurogated {neurogated.__version__}, Python {platform.python_version()}, {sys.platform}"
    yield _Finding("program", about)
    missing = set[str]()
    for line in metadata.requires("neurogated") or ():
        found = _OF_AN_EXTRA.match(line)
        if found and found["extra"] not in _OF_DEVELOPERS and not any(metadata.distributions(name=found["package"])):
            missing.add(found["extra"])
    told = f"not installed: {', '.join(sorted(missing))}" if missing else "all are installed"
    yield _Finding("extras", told, "for the one that you need: pip install 'neurogated[NAME]'" if missing else "")
    if importlib.util.find_spec("torch") is None:
        told = "torch is not installed; models run on the CPU. For a GPU: pip install 'neurogated[gpu]'"
    else:
        told = "torch sees a GPU" if has_accelerator() else "torch sees no GPU; models run on the CPU"
    yield _Finding("GPU", told)


def _disk(config: MemoryConfig) -> Iterator[_Finding]:
    """Write and read a memory in a temporary folder beside the real one, on the same file system."""
    if config.storage == "memory":
        yield _Finding("disk", "the memory is kept in the process; nothing is written")
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
        remedy = "choose another folder with --save_dir"
        yield _Finding("disk", f"{beside} cannot be written ({error})", remedy, works=False)
        return
    yield _Finding("disk", f"a memory was written and read in {beside}", works=bool(found))
    free = shutil.disk_usage(beside).free / _GIB
    remedy = "" if free >= _LEAST_FREE_GIB else "free some space, or choose another --save_dir"
    yield _Finding("disk", f"{free:.1f} GiB free", remedy, works=not remedy)


def _memory(config: MemoryConfig) -> Iterator[_Finding]:
    if config.storage == "memory" or not memory_exists(config):
        yield _Finding("memory", f"none yet in {config.place}")
        return
    # The language model has a check of its own.
    plain = config.replace(read_only=True, force_index_from_scratch=False, llm={"use": "off"})
    with NeuroGraphMemory(plain) as memory:
        count = counted(int(memory.admin.stats()["memories"]), "memories")
        latest = memory.find(user_id=ANY_USER, order_by="-created_at", limit=_LATEST)
    yield _Finding("memory", f"{count} in {config.place}; `neurogated check` examines them")
    if config.embedding_name in BUNDLED_NAMES and (found := finding_of([one.content for one in latest])):
        folder = f"--save_dir {shlex.quote(config.save_dir)} " if config.storage == "sqlite" else ""
        steps = f"pip install 'neurogated[multilingual]'; neurogated migrate {folder}--embedding_name multilingual"
        remedy = f"{steps}; name this model in your settings from then on"
        yield _Finding("memory", f"{found} with {BUNDLED_MODEL}", remedy)


def _language_model(config: MemoryConfig) -> Iterator[_Finding]:
    model = build_language_model(config)
    if model is None:
        extra = "" if importlib.util.find_spec("openai") else f". {_OPENAI}"
        yield _Finding("language model", f"none configured; questions, causes and names are judged offline{extra}")
        return
    try:
        answer, _ = model.infer([{"role": "user", "content": "Reply with the word: ready"}])
    except NeurogatedError as error:
        remedy = "start the server, or correct --llm_base_url, --llm_name or the key"
        yield _Finding("language model", f"{model.name}: {error}", remedy, works=False)
    else:
        yield _Finding("language model", f"{model.name} answered: {answer.strip()[:40]}")
    finally:
        model.close()


_CHECKS = {
    "program": _installation,
    "embedding model": _embedding,
    "disk": _disk,
    "memory": _memory,
    "language model": _language_model,
}
