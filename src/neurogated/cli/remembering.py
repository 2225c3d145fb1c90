"""Adding texts, asking about them, correcting and deleting them."""

import contextlib
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from neurogated.cli.chat import chat, repl, run
from neurogated.cli.flags import METADATA, command, user
from neurogated.cli.opening import Flags, counted, node_json, picked, recall_json, say_how_it_judges
from neurogated.core.scope import Scope
from neurogated.errors import DatasetError, UnknownIdError
from neurogated.ingestion.document import Document, passages_of
from neurogated.ingestion.planner import parts_of
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.ranking import NOTHING_FOUND
from neurogated.viewer import explain as explained
from neurogated.viewer import write_page
from neurogated.viewer.page import beginning, dated, questions, recall_text

__all__ = ["add", "ask", "chat", "context", "delete", "feedback", "list_", "recall", "record", "repl", "run", "update"]

_MARKDOWN = frozenset({".md", ".markdown"})


@command("add")
@click.option(
    "--file", metavar="FILE", help="a file with the text, in UTF-8; without a text and a file, standard input is read"
)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="may be given several times")
@click.option("--metadata", type=METADATA, multiple=True, help="your own value, JSON or text")
def add(flags: Flags, text: str | None, file: str | None, *, speakers_in_text: bool, **about: Any) -> None:  # noqa: ANN401 - fields of a document
    said_by = {"speaker": about.pop("speaker"), "role": about.pop("role")}
    if speakers_in_text and said_by["speaker"] is not None:
        raise click.UsageError("give either --speaker or --speakers_in_text")
    passages = tuple(
        replace(one, role=said_by["role"], speaker=one.speaker or said_by["speaker"])
        for one in passages_of(_text(text, file), is_spoken=speakers_in_text)
    )
    metadata = dict(about.pop("metadata"))
    if file is not None and about["id"] is None and len(passages) == 1:
        about["id"] = _id_of_file(file, flags.owner["user_id"])
    markdown = True if file is not None and Path(file).suffix.lower() in _MARKDOWN else None
    document = Document(passages, metadata=metadata, scope=Scope(**flags.owner), markdown=markdown, **about)
    with flags.open(create=True) as memory:
        say_how_it_judges(memory)
        before = _texts_of(memory, document.id)
        (ids,) = memory.add_documents([document], progress=False)
        after = _texts_of(memory, document.id)
        replaced = [name for name, said in before.items() if after.get(name) != said]
        said = [f"{document.id} had another text before, which is replaced"] if replaced else []
        flags.emit({"ids": ids, "replaced": replaced}, "\n".join((*ids, *said)))


def _id_of_file(file: str, user_id: str | None) -> str:
    """Return the id of a file's text: its whole path, whatever links lead to it; two users may keep the same file."""
    return ":".join(filter(None, (user_id, Path(file).resolve().as_posix())))


def _texts_of(memory: NeuroGraphMemory, document_id: str | None) -> dict[str, str]:
    """Return the texts that have an id of the caller, by the ids of their memories."""
    ids = [] if document_id is None else parts_of(memory.store.view(), document_id)
    return {node.id: node.content for node in memory.store.get_nodes(ids, missing_ok=True)}


def _text(text: str | None, file: str | None) -> str:
    if text is not None and file is not None:
        raise click.UsageError("give either a text or --file")
    if file is None:
        said = sys.stdin.read() if text == "-" or (text is None and not sys.stdin.isatty()) else text
        if not said:
            raise click.UsageError("give a text, --file, or standard input")
        return said
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{file} cannot be read as UTF-8 text ({error})") from error


@command("ask")
@click.option("--explain", metavar="FILE", help="also write a page that draws why each memory was remembered")
def ask(flags: Flags, memory: NeuroGraphMemory, query: str, explain: str | None, **options: Any) -> None:  # noqa: ANN401 - as in `recall`
    say_how_it_judges(memory)
    found = memory.recall(query, **flags.reader, **options)
    store = memory.store if options["as_of"] is None else memory.store.as_of(options["as_of"])
    if explain is not None:
        written = write_page(explained(memory, found, store), explain)
        # To standard error, so that --json prints only JSON.
        print(f"explained in {written}; open it in a browser", file=sys.stderr)
    flags.emit(recall_json(found), recall_text(store, found))


recall = ask


@command("context")
@click.option("--explain", is_flag=True, help="also say why each memory is there")
def context(flags: Flags, memory: NeuroGraphMemory, query: str, **options: Any) -> None:  # noqa: ANN401 - of `get_context`
    found = memory.get_context(query, **flags.reader, **options)
    shown = picked(found, "text tokens budget excerpts choices notes confidence")
    shown |= {"memories": found.ids, "conflicts": [picked(one, "id question") for one in found.conflicts]}
    lines = [*found.notes] or ["nothing found"]
    if found:
        reasons = (f"{name}\n    {choice}" for name, choice in found.choices.items())
        lines = [found.text, f"{found.tokens} of {found.budget} tokens", *questions(found.conflicts), *reasons]
    flags.emit(shown, "\n".join(lines))


@command("list")
def list_(flags: Flags, memory: NeuroGraphMemory, limit: int, cursor: str | None) -> None:
    page = memory.list(limit=limit, cursor=cursor, **flags.reader)
    total = memory.count(**flags.reader)
    same = {node.id: list[str]() for node in page}
    for name in same:
        # Another process may have deleted the memory since the page was read.
        with contextlib.suppress(UnknownIdError):
            same[name] = list(memory.duplicates.of(name))
    lines = list[str]()
    for one in page:
        said = dated(one, memory.config.zone) + f"\nthe same as: {', '.join(same[one.id])}" * bool(same[one.id])
        lines.append(f"{one.id}\n{textwrap.indent(said, '    ')}")
    following = f"; next page: --cursor {page.cursor}" if page.cursor else ""
    lines += [f"{len(page)} of {counted(total, 'memories')}{following}", *([] if total else [NOTHING_FOUND])]
    shown = [node_json(node, same[node.id]) for node in page]
    flags.emit({"memories": shown, "cursor": page.cursor, "total": total}, "\n".join(lines))


@command("update")
def update(flags: Flags, memory: NeuroGraphMemory, node_id: str, text: str | None, **changes: Any) -> None:  # noqa: ANN401 - title and times
    say_how_it_judges(memory)
    node = memory.update(node_id, text, **changes)
    flags.emit({**picked(node, "id content title metadata"), "found": node.found.to_json()}, node.content)


@command("delete")
@click.argument("ids", nargs=-1)
@user("delete all memories of this user; with --document only those of the file that was added for the user")
@click.option(
    "--document",
    metavar="ID",
    help="delete all memories of a text, by your own id, the path of a file, or document_id of ask --json",
)
def delete(flags: Flags, ids: Sequence[str], document: str | None) -> None:
    user_id = flags.owner["user_id"]
    if bool(ids) + (document is not None or user_id is not None) != 1:
        raise click.UsageError("give either ids, --document or --user_id; --document may have a user")
    with flags.open() as memory:
        flags.note_unknown_user(memory)
        if document is not None:
            count = _delete_document(memory, document, user_id)
        elif user_id is not None:
            count = memory.delete(user_id=user_id)
        else:
            count = memory.delete(ids)
    why = "" if count else "; this user has none" if user_id is not None else "; they were deleted before"
    flags.emit({"deleted": count}, counted(count, "memories deleted") + why)


def _delete_document(memory: NeuroGraphMemory, document: str, user_id: str | None) -> int:
    try:
        return memory.delete_document(document if user_id is None else _id_of_file(document, user_id))
    except UnknownIdError:
        with contextlib.suppress(UnknownIdError):
            return memory.delete_document(_id_of_file(document, user_id))
        raise


@command("record")
@click.argument("more", nargs=-1, metavar="")
@click.option("--used", metavar="ID ...", multiple=True, help="ids of the memories that it used")
def record(flags: Flags, event: str, used: Sequence[str], more: Sequence[str], **about: Any) -> None:  # noqa: ANN401
    # A memory that does not exist yet has no ids.
    with flags.open(create=not used) as memory:
        ids = memory.record_event(event, used=(*used, *more), **flags.owner, **about)
    flags.emit({"ids": ids}, "\n".join(ids))


@command("feedback")
def feedback(flags: Flags, memory: NeuroGraphMemory, ids: Sequence[str], outcome: float) -> None:
    done = memory.feedback(ids, outcome)
    nodes = memory.store.get_nodes(done.memories, missing_ok=True)
    what = f"edges {'strengthened or added' if outcome > 0 else 'weakened'}{', of these memories:' if nodes else ''}"
    lines = [counted(done, what), *(f"    {one.id}  {beginning(one.content)}" for one in nodes)]
    lines += [f"left out, because they are gone: {', '.join(done.gone)}"] if done.gone else []
    flags.emit({"edges": int(done), "memories": done.memories, "gone": done.gone}, "\n".join(lines))
