"""`chat`: talk with a memory in the terminal and see why it remembers."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator
from typing import TextIO

from neurogated.cli.arguments import add_dataset_folder, add_owner, add_top_n, owner_of
from neurogated.cli.opening import config_of, open_memory, say_how_it_judges
from neurogated.cli.output import dated
from neurogated.core.rendering import render
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.errors import LLMError, NeurogatedError
from neurogated.evaluation.datasets import BUNDLED, dataset_folder, load_dataset
from neurogated.evaluation.runner import config_for, index
from neurogated.memory import NeuroGraphMemory
from neurogated.storage.registry import memory_exists

__all__ = ["EXAMPLES", "add_arguments", "command"]

EXAMPLES = """\
  neurogated chat
  neurogated chat --save_dir my_agent --user ana
  neurogated chat --llm_base_url http://localhost:8000/v1 --llm_name my-model
"""
_HELP = """\
Ask a question, or type
  /add TEXT    remember a text
  /good        the memories of the last answer were useful together
  /bad         they were not
  /quit        end (so does Ctrl-D)"""
_WIDTH = 96
_TEXT_WIDTH = 400
_ORIGIN_WIDTH = 66
_PROMPT = "you> "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own flags."""
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        help="the memory of this data set (default: the sample, if there is no other memory and no --user)",
    )
    add_dataset_folder(parser)
    add_top_n(parser)
    add_owner(parser)
    parser.add_argument("--plain", action="store_true", help="print without colours")


def command(arguments: argparse.Namespace) -> int:
    """Read and answer lines until the input ends."""
    config = config_of(arguments)
    if arguments.dataset is None and arguments.user_id is None and not memory_exists(config):
        print(
            f"no memory in {config.save_dir} yet, so here is the sample; --user NAME begins your own", file=sys.stderr
        )
        _fill_sample(arguments)
    screen = _Screen(sys.stdout, coloured=sys.stdout.isatty() and not arguments.plain)
    with open_memory(arguments, create=True) as memory:
        say_how_it_judges(memory)
        screen.note(f"{memory.count(**owner_of(arguments))} memories. {_HELP}")
        _talk(memory, arguments, screen)
    return 0


def _fill_sample(arguments: argparse.Namespace) -> None:
    """Index the sample if it has no memory yet, and use it."""
    arguments.dataset = BUNDLED
    dataset = load_dataset(BUNDLED, dataset_folder(arguments.dataset_dir, BUNDLED), "hipporag")
    with NeuroGraphMemory(config_for(dataset, config_of(arguments))) as memory:
        index(dataset, memory)


def _talk(memory: NeuroGraphMemory, arguments: argparse.Namespace, screen: _Screen) -> None:
    last: Recall | None = None
    for line in _lines():
        word, _, rest = line.partition(" ")
        try:
            if word == "/quit":
                return
            if word == "/add":
                ids = memory.add(rest, **owner_of(arguments))
                screen.note(f"remembered as {', '.join(ids)}")
            elif word in {"/good", "/bad"} and last is not None:
                edges = memory.feedback(last, outcome="success" if word == "/good" else "fail")
                screen.note(f"{edges} edges are {'stronger' if word == '/good' else 'weaker'} now")
            elif word.startswith("/"):
                screen.note(_HELP)
            else:
                last = memory.recall(line, **owner_of(arguments))
                screen.answer(memory, last)
        except NeurogatedError as error:
            screen.note(f"error: {error}")


def _lines() -> Iterator[str]:
    """Yield the lines that the user types, except blank ones."""
    while True:
        try:
            line = input(_PROMPT).strip()
        except EOFError:
            print()
            return
        if line:
            yield line


class _Screen:
    """Prints answers, in colours if the output is a terminal."""

    def __init__(self, out: TextIO, *, coloured: bool) -> None:
        self._out = out
        self._coloured = coloured

    def note(self, text: str) -> None:
        self._print(text, "2")

    def answer(self, memory: NeuroGraphMemory, recall: Recall) -> None:
        """Print the language model's answer if there is one, then the memories with their paths."""
        try:
            answer = memory.answer(recall)
        except LLMError as error:
            self.note(f"the language model failed: {error}")
            answer = None
        if answer is not None:
            self._print(answer, "1")
        if not recall.memories:
            self._print("nothing comes to mind", "1")
        for rank, remembered in enumerate(recall, start=1):
            self._memory(memory, rank, remembered, bold=answer is None and rank == 1)
        self.note(f"kernel: {recall.kernel.justification}")

    def _memory(self, memory: NeuroGraphMemory, rank: int, remembered: RecalledMemory, *, bold: bool) -> None:
        text = textwrap.shorten(dated(remembered.node), _TEXT_WIDTH, placeholder=" …")
        for line in textwrap.wrap(f"{rank}. {text}", _WIDTH, subsequent_indent="   "):
            self._print(line, "1" if bold else "")
        self.note(f"   score {remembered.score:.2f}")
        for step in remembered.path:
            source = next(iter(memory.store.get_nodes([step.source_id], missing_ok=True)), None)
            origin = (
                step.source_id if source is None else textwrap.shorten(render(source), _ORIGIN_WIDTH, placeholder=" …")
            )
            self._print(f"   reached by {step.type.name} from: {origin}", "36")

    def _print(self, text: str, style: str) -> None:
        print(f"\033[{style}m{text}\033[0m" if self._coloured and style else text, file=self._out)
