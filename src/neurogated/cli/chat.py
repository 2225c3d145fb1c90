"""`chat`: talk with a memory in the terminal and see why it remembers."""

import contextlib
import sys
import textwrap
from collections.abc import Iterator

import click

from neurogated.cli.flags import command, dataset_dir, owner, top_n
from neurogated.cli.opening import Flags, say_how_it_judges
from neurogated.cli.output import counted
from neurogated.core.rendering import render
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.errors import LLMError, NeurogatedError
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import index
from neurogated.memory import NeuroGraphMemory
from neurogated.retrieval.question_cues import read_question
from neurogated.storage.registry import memory_exists
from neurogated.viewer.text import beginning, dated, questions

_HELP = """\
Tell it something, and it remembers; ask a question, and it answers. Or type
  /add TEXT    remember a text, also if it is a question
  /good        the memories of the last answer were useful together
  /bad         they were not
  /quit        end (so does Ctrl-D)"""
_WIDTH, _TEXT_WIDTH = 96, 400
_PROMPT = "you> "
_BEGIN = "--user NAME begins your own memory"


@command("chat")
@dataset_dir
@top_n
@owner
@click.option("--plain", is_flag=True, help="print without colours")
def chat(flags: Flags, *, plain: bool) -> None:
    is_own = flags.owner["user_id"] is not None
    is_sample = flags.dataset is None and not is_own and not memory_exists(flags.config())
    if is_sample:
        print(f"no memory here yet, so this is the sample; {_BEGIN}", file=sys.stderr)
    with _sample(flags) if is_sample else flags.open(create=is_own) as memory:
        say_how_it_judges(memory)
        talk = _Talk(memory, flags, coloured=sys.stdout.isatty() and not plain, adds=not is_sample)
        talk.note(f"{counted(memory.count(**flags.owner), 'memories')}. {_HELP}")
        try:
            while (line := input(_PROMPT).strip()) != "/quit":
                talk.take(line)
        except EOFError:
            print()


@contextlib.contextmanager
def _sample(flags: Flags) -> Iterator[NeuroGraphMemory]:
    data = load_dataset(BUNDLED, dataset_folder(flags.dataset_dir, BUNDLED), "hipporag")
    with flags.open_sample() as memory:
        index(data, memory)
        yield memory


class _Talk:
    """Answers lines, in colours if the output is a terminal."""

    def __init__(self, memory: NeuroGraphMemory, flags: Flags, *, coloured: bool, adds: bool) -> None:
        self._memory = memory
        self._owner = flags.owner
        self._coloured = coloured
        self._adds = adds
        self._last: Recall | None = None

    def take(self, line: str) -> None:
        """Answer a question, remember a statement, or do what a word after a slash says. An error is only shown."""
        try:
            self._take(line)
        except NeurogatedError as error:
            self.note(f"error: {error}")

    def _take(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if not line:
            return
        if word == "/add":
            self._add(rest)
        elif word in {"/good", "/bad"} and self._last is not None:
            edges = self._memory.feedback(self._last, outcome="success" if word == "/good" else "fail")
            self.note(counted(edges, f"edges made {'stronger' if word == '/good' else 'weaker'}"))
        elif word.startswith("/"):
            self.note(_HELP)
        elif read_question(line).is_question:
            self._last = self._memory.recall(line, **self._owner)
            self._answer(self._last)
        else:
            self._add(line)

    def note(self, text: str) -> None:
        """Print a text that is no answer."""
        self._print(text, dim=True)

    def _add(self, text: str) -> None:
        if not self._adds:
            self.note(f"the sample stays as it is; {_BEGIN}")
            return
        self.note(f"remembered as {', '.join(self._memory.add(text, **self._owner, timestamp='now'))}")

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
            self._show(rank, remembered, bold=answer is None and rank == 1)
        for line in (*questions(recall.conflicts), f"kernel: {recall.kernel.justification}"):
            self.note(line)

    def _show(self, rank: int, remembered: RecalledMemory, *, bold: bool) -> None:
        text = textwrap.shorten(dated(remembered.node, self._memory.config.zone), _TEXT_WIDTH, placeholder=" …")
        self._print(textwrap.fill(f"{rank}. {text}", _WIDTH, subsequent_indent="   "), bold=bold)
        self.note(f"   score {remembered.score:.2f}")
        for step in remembered.path:
            source = next(iter(self._memory.store.get_nodes([step.source_id], missing_ok=True)), None)
            origin = step.source_id if source is None else beginning(render(source))
            self._print(f"   reached by {step.type.name} from: {origin}", fg="cyan")

    def _print(self, text: str, *, bold: bool = False, dim: bool = False, fg: str | None = None) -> None:
        print(click.style(text, bold=bold, dim=dim, fg=fg) if self._coloured else text)
