"""JSON data files; every error names file, entry and field."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from neurogated.errors import DatasetError

_EXPECTED = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a whole number"}


class Record:
    """A JSON object with its place in the file, for error messages."""

    def __init__(self, value: Any, where: str) -> None:  # noqa: ANN401 - JSON
        if not isinstance(value, dict):
            raise DatasetError(f"{where} is {kind_of(value)}, but must be an object")
        self.value, self.where = value, where

    def has(self, field: str) -> bool:
        """Return whether the field exists and is not null."""
        return self.value.get(field) is not None

    def get(self, field: str, kinds: type | tuple[type, ...], *, default: Any = None) -> Any:  # noqa: ANN401 - JSON
        """Return a field of the given JSON type; raise DatasetError if it is missing and has no default."""
        value = self.value.get(field, default)
        if value is None and default is None:
            raise DatasetError(f"{self.where} lacks the field {field!r}")
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            expected = " or ".join(_EXPECTED[kind] for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
            raise DatasetError(f"{self.where}: field {field!r} is {kind_of(value)}, but must be {expected}")
        return value

    def optional(self, field: str, kinds: type | tuple[type, ...]) -> Any:  # noqa: ANN401 - JSON
        """Return a field of the given JSON type, or None if it is missing or null."""
        return self.get(field, kinds) if self.has(field) else None

    def records(self, field: str) -> list[Record]:
        """Return the objects of a list field."""
        return [Record(value, where) for value, where in self.items(field)]

    def items(self, field: str) -> Iterator[tuple[Any, str]]:
        """Yield the values of a list field, each with its place."""
        for position, value in enumerate(self.get(field, list)):
            yield value, f"{self.where}, {field}[{position}]"

    def joined(self, field: str) -> str:
        """Return a field that is text, or a list of texts joined by spaces."""
        if isinstance(self.get(field, (str, list)), str):
            return str(self.value[field])
        return " ".join(text_of(value, where).strip() for value, where in self.items(field))

    def question(self) -> str:
        """Return the field 'question', which must not be blank."""
        text: str = self.get("question", str)
        if not text.strip():
            raise DatasetError(f"{self.where}: field 'question' is blank")
        return text


def text_of(value: Any, where: str) -> str:  # noqa: ANN401 - JSON
    """Return `value`, which must be text."""
    if not isinstance(value, str):
        raise DatasetError(f"{where} is {kind_of(value)}, but must be text")
    return value


def kind_of(value: object) -> str:
    """Return the name of a value's JSON type, for errors."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def read_json(path: Path) -> Any:  # noqa: ANN401 - JSON
    """Return the parsed contents of a JSON file."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DatasetError(f"{path} does not exist; check --dataset and --dataset_dir") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read ({error})") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is not JSON: {error}") from None


def records_of(values: object, path: Path) -> list[Record]:
    """Return the entries of a file that holds a list of objects."""
    if not isinstance(values, list):
        raise DatasetError(f"{path} holds {kind_of(values)}, but must hold a list")
    return [Record(value, f"{path}, entry {position}") for position, value in enumerate(values)]


def read_records(path: Path) -> list[Record]:
    """Return the entries of the file at `path`, which must hold a list of objects."""
    return records_of(read_json(path), path)


def refuse_repeated(names: Iterable[object], where: object, field: str, remedy: str = "") -> None:
    """Raise DatasetError if two entries have the same value of a field."""
    for name, times in Counter(names).items():
        if times > 1:
            raise DatasetError(f"{where}: {field} {name!r} occurs {times} times; make them differ{remedy}")
