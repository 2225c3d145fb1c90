"""`neurogated chat`: a conversation with a memory, and the prompt that reads its lines."""

import contextlib
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import click

from neurogated.cli.flags import command, dataset_dir, top_n
from neurogated.cli.opening import Flags, counted, say_how_it_judges
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import day_in
from neurogated.core.conflicts import Conflict
from neurogated.core.extras import import_extra
from neurogated.core.rendering import render
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.errors import ExpressionError, InputError, LLMError, NeurogatedError
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import index
from neurogated.memory import NeuroGraphMemory
from neurogated.operations import told
from neurogated.retrieval.kernel_generator import read_question
from neurogated.sexpr import OPERATIONS, check, read
from neurogated.storage.registry import memory_exists
from neurogated.viewer.page import beginning, dated, recall_text

_HISTORY = ".neurogated_history"
_COMPLETED_IDS = 1_000
_BEFORE_CARET = 60
# A word of an expression, which completion replaces.
_WORD = re.compile(r"""[^\s()"']+""")


@command("run")
def run(flags: Flags, expression: str) -> None:
    text = sys.stdin.read() if expression == "-" else expression
    read_only = flags.config().read_only
    try:
        with told():  # `execute` tells it
            writes = check(text).operation.writes
        with flags.open(create=writes and not read_only) as memory:
            print(_shown(memory.execute(text, user_id=flags.owner["user_id"], read_only=read_only)))
    except ExpressionError as fault:
        raise InputError(pointed(fault, text)) from None


@command("repl")
def repl(flags: Flags) -> None:
    read_only, owner = flags.config().read_only, flags.owner["user_id"]
    with flags.open() as memory:
        known = dict.fromkeys(one.id for one in memory.list(limit=_COMPLETED_IDS, user_id=owner))
        ask = _prompt(lambda: [*OPERATIONS, *known])
        while True:
            try:
                if not (text := ask().strip()):
                    continue
                value = memory.execute(text, user_id=owner, read_only=read_only)
            except KeyboardInterrupt:
                continue  # it discards what is typed
            except EOFError:
                return
            except ExpressionError as fault:
                print(pointed(fault, text), file=sys.stderr)
            except NeurogatedError as error:
                print(error, file=sys.stderr)
            else:
                listed = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
                known.update((one["id"], None) for one in listed if isinstance(one.get("id"), str))
                print(_shown(value))


def pointed(fault: ExpressionError, text: str) -> str:
    """Return the message of a fault with the line of its place, and a caret under it."""
    line = text.split("\n")[fault.line - 1]
    begin = max(0, fault.column - 1 - _BEFORE_CARET)
    part = line[begin : begin + 2 * _BEFORE_CARET].replace("\t", " ")
    return f"{fault}\n  {part}\n  {' ' * (fault.column - 1 - begin)}^"


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _prompt(words: Callable[[], list[str]]) -> Callable[[], str]:
    """Return a function that reads an expression of one or more lines, with completion and a history file."""
    toolkit = import_extra("prompt_toolkit", "repl")
    history = Path.home() / _HISTORY
    # The file holds what was typed, so nobody else may read it.
    os.close(os.open(history, os.O_CREAT | os.O_WRONLY, 0o600))
    history.chmod(0o600)

    def is_unfinished() -> bool:
        """Return whether Enter begins another line, because the expression has no end yet."""
        text = toolkit.application.get_app().current_buffer.text
        try:
            read(text)
        except ExpressionError as fault:
            return fault.is_unfinished and bool(text.strip())
        return False

    session = toolkit.PromptSession(
        "> ",
        completer=toolkit.completion.WordCompleter(words, pattern=_WORD),
        history=toolkit.history.FileHistory(str(history)),
        multiline=toolkit.filters.Condition(is_unfinished),
    )
    ask: Callable[[], str] = session.prompt
    return ask


_HELP = """\
Tell it something, and it remembers; ask a question, and it lists the memories that it finds. Or type
  /add TEXT      remember a text, also if it is a question
  /undo          take back the last change of this chat
  /forget [N]    delete memory N of the last answer; without N, the text that was remembered last
  /why [N]       explain the scores of the last answer, or of memory N alone
  /good, /bad    the memories of the last answer were useful together, or not
  /facts         list the facts
  /answer WHICH  answer the question about a contradiction: 1, 2, both or changed
  /help          show this
  /quit          end (so do exit, quit and Ctrl-D)"""
_ENDS, _AFTER_END = frozenset({"/quit", "/exit", "quit", "exit"}), " .!;()"
# They mean something only beside a question, so they are no memories.
_REPLIES = re.compile(
    "(?:yes|yeah|yep|no|nope|ok|okay|sure|ja|nein|doch|sí|si|oui|non|是的?|对|好的?|不是?)[\\s.!,\uff01\u3002]*",
    re.IGNORECASE,
)
_WIDTH, _TEXT_WIDTH = 96, 400
_PROMPT = "you> "
_BEGIN = "--save_dir FOLDER or --user_id NAME begins your own memory"


@command("chat")
@dataset_dir
@top_n
@click.option("--plain", is_flag=True, help="print without colours")
def chat(flags: Flags, *, plain: bool) -> None:
    config, usual = flags.config(), MemoryConfig()
    # Who names a folder or a person wants a memory there. The sample is for a first look.
    names_folder = flags.dataset is None and config.save_dir != usual.save_dir and config.storage == usual.storage
    is_own = flags.owner["user_id"] is not None or names_folder
    is_sample = flags.dataset is None and not is_own and not memory_exists(config)
    if is_sample:
        print(f"no memory here yet, so this is the sample; {_BEGIN}", file=sys.stderr)
        data = load_dataset(BUNDLED, dataset_folder(flags.dataset_dir, BUNDLED), "hipporag")
    with flags.open_sample() if is_sample else flags.open(create=is_own) as memory:
        if is_sample:
            index(data, memory)
        say_how_it_judges(memory)
        talk = _Talk(memory, flags, coloured=sys.stdout.isatty() and not plain, adds=not is_sample)
        flags.note_unknown_user(memory)
        talk.note(f"{counted(memory.count(**flags.owner), 'memories')}. {_HELP}")
        try:
            while (line := input(_PROMPT).strip()).rstrip(_AFTER_END).casefold() not in _ENDS:
                try:
                    talk.take(line)
                except NeurogatedError as error:
                    talk.note(f"error: {error}")
        except EOFError:
            print()


class _Talk:
    """Answers lines, in colours if the output is a terminal."""

    def __init__(self, memory: NeuroGraphMemory, flags: Flags, *, coloured: bool, adds: bool) -> None:
        self._memory = memory
        self._owner = flags.owner
        self._coloured = coloured
        self._adds = adds
        self._last: Recall | None = None
        self._added: list[str] = []
        self._changes: list[str] = []
        """What this chat has changed and `/undo` may take back, the latest last."""
        self._told: set[str] = set()
        """The ids of the conflicts whose question was asked."""
        self._asked: dict[str, Conflict] = {}
        """Those that wait for an answer, the latest last."""
        self._commands = {"/add": self._add, "/forget": self._forget, "/answer": self._settle, "/why": self._explain}
        self._plain_commands: dict[str, Callable[[], None]] = {
            "/undo": self._undo,
            "/good": partial(self._learn, "success"),
            "/bad": partial(self._learn, "fail"),
            "/facts": self._list_facts,
            "/help": partial(self.note, _HELP),
        }

    def take(self, line: str) -> None:
        """Answer a question, remember a statement, or do what a word after a slash says."""
        word, rest = [*line.split(maxsplit=1), "", ""][:2]
        if not line:
            return
        if word in self._commands:
            self._commands[word](rest)
        elif word in self._plain_commands.keys() | _ENDS and rest and word.startswith("/"):
            raise InputError(f"{word} takes nothing after it")
        elif word in self._plain_commands:
            self._plain_commands[word]()
        elif word.startswith("/"):
            raise InputError(f"there is no command {word}.\n{_HELP}")
        elif _REPLIES.fullmatch(line):
            self.note("not remembered, because it says nothing by itself; /answer answers a question of mine")
        elif read_question(line).is_question:
            is_first, self._last = self._last is None, self._memory.recall(line, **self._owner)
            self._answer(self._last)
            if self._adds:
                how = "; /add TEXT remembers a text as it is" if is_first else ""
                self.note(f"a question is not remembered{how}")
        else:
            self._add(line)

    def note(self, text: str) -> None:
        """Print a text that is no answer."""
        self._print(text, dim=True)

    def _add(self, text: str) -> None:
        if not self._adds:
            self.note(f"the sample stays as it is; {_BEGIN}")
            return
        with self._changing(f"“{beginning(text)}”"):
            self._added = list(self._memory.add({"role": "user", "content": text}, **self._owner))
        self.note(f"remembered as {', '.join(self._added)}")

    def _undo(self) -> None:
        made = self._memory.undo(user_id=self._owner["user_id"]) if self._changes else None
        if made is None:
            self.note("this chat has changed nothing that could be taken back")
            return
        self._added = []
        back = [f"; written again: “{beginning(one.content)}”" for one in made.memories if one.action == "written"]
        self.note(f"taken back: {self._changes.pop()}{''.join(back)}")

    @contextlib.contextmanager
    def _changing(self, what: str) -> Iterator[None]:
        before = self._memory.store.view().sequence
        yield
        if self._memory.store.view().sequence != before:
            self._changes.append(what)

    def _forget(self, which: str) -> None:
        if not self._adds:
            self.note(f"the sample stays as it is; {_BEGIN}")
        elif which:
            self._delete([self._numbered("/forget", which).id])
        elif self._added:
            self._delete(self._added)
        else:
            self.note("nothing was remembered in this chat; /forget N deletes memory N of the last answer")

    def _delete(self, ids: list[str]) -> None:
        with self._changing("a deletion"):
            count = self._memory.delete(ids)
        self.note(f"{counted(count, 'memories deleted')}; /undo takes it back" if count else "it is gone already")
        self._added = []

    def _numbered(self, word: str, which: str) -> RecalledMemory:
        """Return the memory of the last answer with a number that follows a word."""
        found = {str(number): one for number, one in enumerate(self._last or (), start=1)}
        if not found:
            raise InputError(f"the last answer has no memories; {word} N takes the number of one")
        if which not in found:
            raise InputError(f"{word} takes a number from 1 to {len(found)}, as in the last answer")
        return found[which]

    def _explain(self, which: str) -> None:
        only = self._numbered("/why", which) if which else None
        self.note("ask something first" if self._last is None else recall_text(self._memory.store, self._last, only))

    def _learn(self, outcome: Literal["success", "fail"]) -> None:
        if self._last is None:
            self.note("ask something first")
            return
        with self._changing("what was learned"):
            edges = self._memory.feedback(self._last, outcome=outcome)
        self.note(counted(edges, f"edges made {'stronger' if outcome == 'success' else 'weaker'}"))

    def _list_facts(self) -> None:
        facts = self._memory.facts.list(user_id=self._owner["user_id"])
        for fact in facts:
            ended = f" (until {day_in(fact.valid_to, self._memory.config.zone):%Y-%m-%d})" if fact.valid_to else ""
            self._print(f"  {fact.statement}{ended}")
        self.note(counted(len(facts), "facts"))

    def _settle(self, which: str) -> None:
        if not self._asked:
            self.note("I have asked nothing about a contradiction")
            return
        name, conflict = next(reversed(self._asked.items()))
        answers = {"1": conflict.first, "2": conflict.second, "both": "both", "changed": "supersede"}
        if which not in answers:
            raise InputError(f"/answer is {which!r}, but must be 1, 2, both or changed")
        with self._changing("an answer"):
            resolved = self._memory.conflicts.resolve(name, answers[which])
        del self._asked[name]
        done = "both stand" if resolved.loser is None else f"the other is {resolved.outcome}"
        self.note(f"{done}; /undo takes it back")

    def _answer(self, recall: Recall) -> None:
        """Print the language model's answer if there is one, then the memories with their paths."""
        try:
            answer = self._memory.answer(recall) if self._memory.session.parts.language_model else None
        except LLMError as error:
            self.note(f"the language model failed: {error}")
            answer = None
        if answer is not None:
            self._print(answer, bold=True)
        if not recall.memories:
            self._print("nothing comes to mind", bold=True)
        for rank, remembered in enumerate(recall, start=1):
            text = textwrap.shorten(dated(remembered.node, self._memory.config.zone), _TEXT_WIDTH, placeholder=" …")
            filled = textwrap.fill(f"{rank}. {text}", _WIDTH, subsequent_indent="   ")
            self._print(filled, bold=answer is None and rank == 1)
            self.note(f"   score {remembered.score:.2f}")
            for step in remembered.path:
                source = next(iter(self._memory.store.get_nodes([step.source_id], missing_ok=True)), None)
                origin = step.source_id if source is None else beginning(render(source))
                self._print(f"   reached by {step.type.name} from: {origin}", fg="cyan")
        self.note("\n".join((f"kernel: {recall.kernel.justification}", *recall.notes)))
        # The question of a conflict is asked once; one that is settled needs no answer.
        for conflict in (one for one in recall.conflicts if one.id not in self._told):
            self._told.add(conflict.id)
            self._print(conflict.question)
            if conflict.status == "open":
                self._asked[conflict.id] = conflict
                for number, side in enumerate(conflict.sides, start=1):
                    self.note(f"   {number}. {beginning(self._memory.get(side).content)}")
                self.note("   /answer 1, 2, both, or changed if the later one replaced the earlier one")

    def _print(self, text: str, *, bold: bool = False, dim: bool = False, fg: str | None = None) -> None:
        print(click.style(text, bold=bold, dim=dim, fg=fg) if self._coloured else text)
