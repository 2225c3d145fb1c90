"""Entry point: chooses the command, and prints each error as one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from neurogated.cli.logs import logged_to_stderr
from neurogated.cli.parser import DEFAULT_WORDS, build_parser, complete_switches
from neurogated.errors import ConfigError, DatasetError, NeurogatedError

__all__ = ["main"]

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (that of the process when left out) and return its exit code.

    0: success. 1: failure. 2: flags, settings or a data file are wrong. 130: interrupted.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0].startswith("-") and words[0] not in {"-h", "--help", "--version"}:
        words = [*DEFAULT_WORDS, *words]
    if not words:
        build_parser().print_help()
        return EXIT_OK
    debug = "--debug" in words
    try:
        arguments = build_parser(words).parse_args(complete_switches(words))
        with logged_to_stderr(arguments.log):
            return int(arguments.command(arguments))
    except NeurogatedError as error:
        if debug:
            raise
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE if isinstance(error, ConfigError | DatasetError) else EXIT_FAILED
    except BrokenPipeError:
        # The reader of the output closed the pipe; Python's flush at exit must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except KeyboardInterrupt:
        print("interrupted; all finished writes are stored", file=sys.stderr)
        return EXIT_INTERRUPTED
