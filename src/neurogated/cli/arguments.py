"""Flags that several commands share."""

import argparse
import contextlib
from datetime import datetime, timedelta
from typing import TypedDict, cast

from neurogated.errors import ConfigError
from neurogated.evaluation.datasets import FORMATS
from neurogated.plasticity.plasticity_engine import Outcome, strength_of

__all__ = [
    "Owner",
    "add_all_namespaces",
    "add_dataset",
    "add_dataset_folder",
    "add_format",
    "add_outcome",
    "add_owner",
    "add_times",
    "add_top_n",
    "add_user",
    "checked_days",
    "outcome_of",
    "owner_of",
    "seconds",
    "time_of",
]

_CENTURY = 36_500


class Owner(TypedDict):
    """A user and a session, None if not given."""

    user_id: str | None
    session_id: str | None


def add_dataset(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the flag that names a data set, and so the memory of that data set."""
    parser.add_argument("--dataset", metavar="NAME", required=required, help="the data set, or its memory")


def add_all_namespaces(parser: argparse.ArgumentParser) -> None:
    """Add the flag for a command that can do its work in every graph of a memory."""
    parser.add_argument("--all_namespaces", action="store_true", help="in every graph of the memory, not only one")


def add_dataset_folder(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the folder of data sets."""
    parser.add_argument(
        "--dataset_dir", metavar="DIR", default="dataset", help="folder of the data set's files (default: dataset)"
    )


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the format of a data set."""
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        default="hipporag",
        help="hipporag: <dataset>_corpus.json and <dataset>.json; locomo: <dataset>.json (default: hipporag)",
    )


def add_top_n(parser: argparse.ArgumentParser) -> None:
    """Add the short name of the setting for the number of memories that a recall returns."""
    parser.add_argument("--top_n", dest="TOP_N_RETRIEVAL", metavar="N", help="how many memories to return")


def add_owner(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add `--user` and `--session`."""
    add_user(parser, "the owner; only recalls with this name find it")
    _add_with_alias(parser, "session", "the conversation; no other one is searched")


def add_user(parser: argparse.ArgumentParser | argparse._ArgumentGroup, help_text: str) -> None:
    """Add `--user`."""
    _add_with_alias(parser, "user", help_text)


def _add_with_alias(parser: argparse.ArgumentParser | argparse._ArgumentGroup, name: str, help_text: str) -> None:
    """Add `--NAME`, and without help `--NAME_id`, the name of the argument in Python."""
    parser.add_argument(f"--{name}", dest=f"{name}_id", metavar="NAME", help=help_text)
    parser.add_argument(f"--{name}_id", help=argparse.SUPPRESS)


def owner_of(arguments: argparse.Namespace) -> Owner:
    """Return the user and the session of the flags."""
    return {"user_id": arguments.user_id, "session_id": arguments.session_id}


def add_outcome(parser: argparse.ArgumentParser, *, default: str | None, shown: str) -> None:
    """Add the flag for an outcome; `shown` is its help."""
    parser.add_argument("--outcome", default=default, metavar="OUTCOME", help=shown)


def outcome_of(arguments: argparse.Namespace) -> float | None:
    """Return the outcome of the flag as a number; None if it is not given."""
    text = arguments.outcome
    with contextlib.suppress(ValueError):
        return None if text is None else strength_of(float(text))
    return strength_of(cast("Outcome", text))


def add_times(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the times of a text."""
    group = parser.add_argument_group("times, in ISO format")
    group.add_argument("--timestamp", metavar="TIME", help="when it was said or happened")
    group.add_argument("--valid_from", metavar="TIME", help="when the fact began to hold")
    group.add_argument("--valid_to", metavar="TIME", help="when the fact ceased to hold")
    group.add_argument("--ttl", metavar="SECONDS", help="lifetime of the memory (default: no limit)")


def time_of(arguments: argparse.Namespace, name: str) -> datetime | None:
    """Return the time that the flag `name` gives, or None; a time without a zone is local time.

    Raises:
        ConfigError: it is not a time in ISO format.
    """
    text = getattr(arguments, name)
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"--{name} is {text!r}, but must be a time such as 2027-01-31T12:00:00") from None


def checked_days(days: float) -> timedelta:
    """Return the duration that `--days` gives; raises ConfigError if it is not between 0 and a century."""
    if not 0 < days <= _CENTURY:
        raise ConfigError(f"--days is {days:g}, but must be more than 0 and at most {_CENTURY}")
    return timedelta(days=days)


def seconds(arguments: argparse.Namespace) -> timedelta | None:
    """Return the duration that `--ttl` gives, or None; raises ConfigError."""
    try:
        return None if arguments.ttl is None else timedelta(seconds=float(arguments.ttl))
    except (ValueError, OverflowError):
        raise ConfigError(f"--ttl is {arguments.ttl!r}, but must be a number of seconds") from None
