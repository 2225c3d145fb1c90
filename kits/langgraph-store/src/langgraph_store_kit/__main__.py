"""The command: `python -m langgraph_store_kit module:factory` runs the contract and prints what passes."""

import argparse
import io
import os
import sys
import textwrap
import traceback
from collections import Counter
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

import pytest

HELP = """\
Run the conformance tests for stores of LangGraph, the probes, over a store.

module:factory  a function or class, such as langgraph.store.memory:InMemoryStore,
                that returns a store, or a context manager that opens one. It is
                called with those of these arguments that it has:
                  place  a folder; a store opened there again has the same items
                  index  how to embed items, an IndexConfig or None
                  ttl    how items expire, a TTLConfig or None
                Without `index`, vector search is not tested; without `ttl`, expiry;
                without `place`, durability and use by several processes.
                A subclass of LangGraphStoreContract may be named, too.
"""
CODES = "Exit status: 0 if all tested probes pass, 1 if one fails, 2 if none could be tested."
ABILITIES = ("vectors", "ttl", "asynchronous", "durable", "shared")
"""The attributes of the contract that say what a store can do."""
WIDTH = 13
"""Columns of the name of a part of the contract."""


class Tally:
    """Counts the outcomes of probes, as a plugin of pytest, and prints each part of the contract when it has run.

    A part is a class that defines probes: `FilterContract` is printed as `filter`.
    """

    def __init__(self, *, verbose: bool) -> None:
        self.verbose = verbose
        self.outcomes: Counter[str] = Counter()
        self.lacking: list[str] = []
        self._out = sys.stdout  # while pytest runs, its own lines go elsewhere
        self._probes: dict[str, tuple[str, str]] = {}
        self._part: list[pytest.TestReport] = []

    def pytest_collection(self) -> None:
        """Import the tests of the chosen store, and end the run if there is no such store.

        Raises:
            UsageError: the message is one sentence.
        """
        try:
            suite = import_module("langgraph_store_kit.chosen").TestStore
        except pytest.UsageError:
            raise
        except Exception as error:
            traceback.print_exc()
            raise pytest.UsageError("Making a first store raised this error.") from error
        self.lacking = [ability for ability in ABILITIES if not getattr(suite, ability)]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note to which part each probe belongs, and order the parts as the contract does."""
        for item in items:
            part, _, name = getattr(item, "function").__qualname__.rpartition(".")  # noqa: B009 - of functions only
            self._probes[item.nodeid] = (part.rpartition(".")[2].removesuffix("Contract").lower(), name)
        parts = dict.fromkeys(part for part, _ in self._probes.values())
        # Pytest runs the last base class first.
        order = {part: -number for number, part in enumerate(parts)}
        items.sort(key=lambda item: order[self._probes[item.nodeid][0]])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a phase of a probe; the worst of its three phases counts."""
        last = self._part[-1] if self._part else None
        if last is not None and last.nodeid == report.nodeid:
            if last.passed:
                self._part[-1] = report
            return
        if last is not None and self._probes[last.nodeid][0] != self._probes[report.nodeid][0]:
            self._print_part()
        self._part.append(report)

    def pytest_sessionfinish(self) -> None:
        """Print the last part."""
        if self._part:
            self._print_part()

    def _print_part(self) -> None:
        outcomes = Counter(report.outcome for report in self._part)
        tested = outcomes["passed"] + outcomes["failed"]
        skipped = f", {outcomes['skipped']} skipped" if outcomes["skipped"] else ""
        lines = [f"{outcomes['passed']} of {tested} pass{skipped}" if tested else "skipped"]
        for report in self._part:
            if report.failed:
                lines.append(f"fails: {self._probes[report.nodeid][1]}")
                lines += report.longreprtext.splitlines() if self.verbose else []
        part, _ = self._probes[self._part[0].nodeid]
        text = textwrap.indent("\n".join(lines), " " * (WIDTH + 1))
        print(f"{part:{WIDTH}} {text.lstrip()}", file=self._out, flush=True)
        self.outcomes += outcomes
        self._part = []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m langgraph_store_kit",
        description=HELP,
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("factory", metavar="module:factory", help="what makes the store")
    parser.add_argument("-k", metavar="WORDS", default="", help="only probes whose names match, as in pytest")
    parser.add_argument(
        "--without",
        metavar="ABILITY",
        choices=ABILITIES,
        action="append",
        default=[],
        help=f"an ability that the store lacks: {', '.join(ABILITIES)}; may be repeated",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show why each probe fails")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    os.environ["LANGGRAPH_STORE_KIT_TARGET"] = options.factory
    os.environ["LANGGRAPH_STORE_KIT_WITHOUT"] = " ".join(options.without)
    # The settings, plugins and fixtures of the user's own tests are not those of the kit.
    os.environ |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    here = Path(__file__).parent
    apart = ["-c", os.devnull, f"--rootdir={here}", f"--confcutdir={here}", "-p", "no:cacheprovider"]
    tally, output = Tally(verbose=options.verbose), io.StringIO()
    with redirect_stdout(output):
        status = pytest.main([*apart, "--tb=short", "-k", options.k, str(here / "chosen.py")], plugins=[tally])
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        print(f"No probe matches {options.k!r}.", file=sys.stderr)
    elif status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.USAGE_ERROR}:
        print(output.getvalue(), file=sys.stderr)
    if not tally.outcomes:
        return 2
    passed, failed = tally.outcomes["passed"], tally.outcomes["failed"]
    print(f"\n{passed} of {passed + failed} probes pass, {tally.outcomes['skipped']} skipped.")
    if tally.lacking:
        print(f"Not tested: {', '.join(tally.lacking)}. --help says why.")
    return int(status != pytest.ExitCode.OK)


if __name__ == "__main__":
    sys.exit(main())
