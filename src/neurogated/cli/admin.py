"""Whole memories: statistics, settings, checks, copies, and changes of the model."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import click

from neurogated.administration import export_memory, export_user, import_memory, restore_snapshot
from neurogated.administration import migrate as change_model
from neurogated.archive.manifest import ExportManifest
from neurogated.cli.doctor import doctor
from neurogated.cli.flags import command, user
from neurogated.cli.opening import Flags
from neurogated.cli.output import counted, picked
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import settings_of, value_of

__all__ = ["check", "compact", "doctor", "export", "import_", "migrate", "namespaces", "restore"]
__all__ += ["settings", "snapshot", "stats"]

_WIDTH = 100


@command("stats")
def stats(flags: Flags) -> None:
    with flags.open() as memory:
        found = memory.stats()
    width = max(map(len, found))
    flags.emit(found, "\n".join(f"{name:<{width}}  {_figure(value)}" for name, value in found.items()))


def _figure(value: object) -> str:
    """Return a figure, a name or a list as text."""
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


@command("namespaces")
@click.option("--drop", metavar="NAME", help="remove the graph of this name; this cannot be undone")
def namespaces(flags: Flags, drop: str | None) -> None:
    with flags.open() as memory:
        if drop is not None:
            memory.drop_namespace(drop)
        names = memory.namespaces()
    flags.emit({"namespaces": names}, "\n".join(names))


@command("check")
def check(flags: Flags) -> int:
    with flags.open() as memory:
        problems = memory.check()
    flags.emit({"problems": problems}, "\n".join(problems) or "the memory is sound")
    return 1 if problems else 0


@command("compact")
@click.option("--history", is_flag=True, help="also erase the texts that memories had before they were updated")
@click.option("--forget", metavar="PLACE", multiple=True, help="a server or file with copies that is gone")
def compact(flags: Flags, forget: Sequence[str], *, history: bool) -> None:
    with flags.open() as memory:
        erased = memory.compact(history=history, forget=forget)
    flags.emit({"erased": erased}, counted(erased, "memories erased for good"))


@command("snapshot")
@click.argument("file")
def snapshot(flags: Flags, file: str) -> None:
    with flags.open() as memory:
        memory.snapshot(file)
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
@user("export only this user, to a new file of JSON lines")
def export(flags: Flags, folder: str) -> None:
    user_id = flags.owner["user_id"]
    with flags.open() as memory:
        if user_id is not None:
            count = export_user(memory, user_id, folder)
            flags.emit({"memories": count}, f"exported to {folder}: {counted(count, 'memories')}")
        else:
            manifest = export_memory(memory, folder)
            flags.emit(_manifest_json(manifest), f"exported to {folder}: {_manifest_line(manifest)}")


@command("import")
@click.argument("folder")
def import_(flags: Flags, folder: str) -> None:
    config = flags.memory_config()
    manifest = import_memory(config, folder)
    flags.emit(_manifest_json(manifest), f"imported into {config.save_dir}: {_manifest_line(manifest)}")


@command("migrate")
def migrate(flags: Flags) -> None:
    config = flags.memory_config()
    texts = change_model(config)
    told = f"{counted(texts, 'texts')} embedded with" if texts else "the memory has vectors already of"
    flags.emit({"texts": texts}, f"{told} {config.embedding_name}")


def _manifest_json(manifest: ExportManifest) -> dict[str, Any]:
    namespaces = {one.name: picked(one, "deltas nodes edges") for one in manifest.namespaces}
    return {"embedder": manifest.embedder and manifest.embedder[0], "namespaces": namespaces}


def _manifest_line(manifest: ExportManifest) -> str:
    names = ("namespaces", "nodes", "edges", "changes")
    counts = ((1, one.nodes, one.edges, one.deltas) for one in manifest.namespaces)
    return ", ".join(counted(sum(column), name) for name, column in zip(names, zip(*counts, strict=True), strict=True))
