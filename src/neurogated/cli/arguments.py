"""Flags that several commands share."""

import argparse
from datetime import datetime, timedelta
from typing import TypedDict

from neurogated.errors import ConfigError
from neurogated.evaluation.datasets import FORMATS

__all__ = [
    "Owner",
    "add_dataset",
    "add_dataset_folder",
    "add_format",
    "add_owner",
    "add_times",
    "add_top_n",
    "checked_days",
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
    parser.add_argument(
        "--dataset", metavar="NAME", required=required, help="name of the data set: its files, and its memory's folder"
    )


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
    parser.add_argument("--top_n", dest="TOP_N_RETRIEVAL", default=None, help="same as --TOP_N_RETRIEVAL")


def add_owner(parser: argparse.ArgumentParser) -> None:
    """Add `--user_id` and `--session_id`."""
    parser.add_argument("--user_id", metavar="NAME", help="the user who owns it; only recalls of this user find it")
    parser.add_argument("--session_id", metavar="NAME", help="the session of the user")


def owner_of(arguments: argparse.Namespace) -> Owner:
    """Return the user and the session of the flags."""
    return {"user_id": arguments.user_id, "session_id": arguments.session_id}


def add_times(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the lifetime of a text and for the time in which its fact holds."""
    parser.add_argument("--ttl", metavar="SECONDS", help="lifetime of the memory (default: no limit)")
    parser.add_argument("--valid_from", metavar="TIME", help="when the fact began to hold, in ISO format")
    parser.add_argument("--valid_to", metavar="TIME", help="when the fact ceased to hold, in ISO format")


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
