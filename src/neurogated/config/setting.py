"""A setting is a field with a help text and allowed values. A group is a frozen dataclass of settings."""

import dataclasses
import difflib
import functools
import math
import os
import types
import typing
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, NamedTuple, TypeVar

from neurogated.errors import ConfigError
from neurogated.text.strings import table_of

TRUTHS = {**dict.fromkeys(("true", "yes", "on", "1"), True), **dict.fromkeys(("false", "no", "off", "0"), False)}
_NONE_WORDS = frozenset({"", "none", "null"})
_Group = TypeVar("_Group")


class Setting(NamedTuple):
    """One setting of a group, or of a group inside it."""

    name: str
    """Its name, with the names of its groups and dots before it: `retrieval.keyword_weight`."""
    spec: dataclasses.Field[Any]
    kinds: tuple[type, ...]
    """The types of its allowed values."""

    @property
    def default(self) -> str:
        """Its default as text, as a user writes it."""
        value = self.spec.default
        return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


class Group:
    """A frozen dataclass of settings, which checks them; `RetrievalSettings` is the group `retrieval`."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check(self, f"{type(self).__name__.removesuffix('Settings').lower()}.")


def setting(
    default: Any,  # noqa: ANN401 - a setting may be of any of the field types below
    help: str,  # noqa: A002 - the name that click uses
    *,
    low: float = -math.inf,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
) -> Any:  # noqa: ANN401
    """Return a field of a configuration with its default, help, least and largest number, and words; none: any word."""
    about = {"help": help, "low": low, "high": high, "choices": choices}
    return field(default=default, metadata=about)


def group(kind: type, help: str, *, shorthand: str | None = None) -> Any:  # noqa: A002, ANN401
    """Return a field with a group of settings about `help`; a bare text sets the setting `shorthand` of the group."""
    return field(default=kind(), metadata={"help": help, "group": kind, "shorthand": shorthand})


def settings_of(kind: type, prefix: str = "") -> Iterator[Setting]:
    """Yield the settings of a group and of its inner groups, in the order of their fields."""
    for spec in dataclasses.fields(kind):
        inner = spec.metadata.get("group")
        if inner is None:
            yield Setting(prefix + spec.name, spec, _kinds(kind)[spec.name])
        else:
            yield from settings_of(inner, f"{prefix}{spec.name}.")


def value_of(values: Any, name: str) -> Any:  # noqa: ANN401 - the type depends on the setting
    """Return the value of the setting with this (dotted) name."""
    return functools.reduce(getattr, name.split("."), values)


_NAMES = table_of(__package__, "earlier")
_FOREIGN: Mapping[str, str] = _NAMES["elsewhere"]
"""Our settings, with their names in other libraries."""


def build(kind: type[_Group], values: Mapping[str, Any], start: _Group | None = None, prefix: str = "") -> _Group:
    """Return a group with `values`. Other settings keep their value in `start`, or their default.

    Settings of earlier versions are left out with a FutureWarning.

    Args:
        kind: the frozen dataclass of the group.
        values: settings by name. A setting of an inner group has a dotted name, or a mapping under the name of the
            inner group holds it.
        start: the group to change.
        prefix: prefix of the setting names in messages, such as `retrieval.`.

    Raises:
        ConfigError: a name is unknown (the message offers the nearest known name) or a value does not fit.
    """
    specs = {spec.name: spec for spec in dataclasses.fields(kind)}  # type: ignore[arg-type]
    plain: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in _without_removed(values, prefix).items():
        head, dot, rest = name.partition(".")
        if head not in specs or (dot and "group" not in specs[head].metadata):
            raise ConfigError(_unknown(kind, name, prefix))
        if dot:
            inner.setdefault(head, {})[rest] = value
        elif "group" in specs[head].metadata and isinstance(value, Mapping):
            inner.setdefault(head, {}).update(value)
        else:
            plain[head] = value
    for head, changes in inner.items():
        before = _group(specs[head], plain[head]) if head in plain else getattr(start, head, None)
        plain[head] = build(specs[head].metadata["group"], changes, before, f"{prefix}{head}.")
    return kind(**plain) if start is None else dataclasses.replace(start, **plain)  # type: ignore[type-var]


def check(values: Any, prefix: str = "") -> None:  # noqa: ANN401 - a frozen dataclass of settings
    """Check every setting of a new group, and parse texts as the types of their fields; raises ConfigError."""
    kind: type = type(values)
    kinds = _kinds(kind)
    for spec in dataclasses.fields(values):
        value = getattr(values, spec.name)
        inner = spec.metadata.get("group")
        checked = _checked(spec, prefix, value, kinds[spec.name]) if inner is None else _group(spec, value)
        object.__setattr__(values, spec.name, checked)


def tells_settings(kind: type[_Group]) -> type[_Group]:
    """Let the constructor of a group name the nearest setting for one that it does not have; it raises TypeError."""
    build_it, known = kind.__init__, {spec.name for spec in dataclasses.fields(kind)}  # type: ignore[arg-type]

    @functools.wraps(build_it)
    def told(self: object, *args: Any, **given: Any) -> None:  # noqa: ANN401 - any settings
        if args:
            raise TypeError(f"{kind.__name__} takes its settings by name, as in {kind.__name__}(save_dir=…)")
        for name in given.keys() - known:
            raise TypeError(_unknown(kind, name, ""))
        build_it(self, **given)

    kind.__init__ = told  # type: ignore[method-assign]
    return kind


@functools.cache
def _kinds(kind: type) -> dict[str, tuple[type, ...]]:
    """Return the allowed types of each setting. Cached, because finding them takes longer than checking all values."""
    return {name: typing.get_args(hint) or (hint,) for name, hint in typing.get_type_hints(kind).items()}


REMOVED, SUCCEEDED = (
    {name: one["told"] for one in _NAMES[key] for name in one["names"].split()} for key in ("removed", "succeeded")
)
"""Settings of earlier versions with what holds now: those that are left out with a warning, and those that another
setting or a part succeeds, which are refused."""


def _without_removed(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the settings without those of earlier versions, each of which is told in a warning."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        full = f"{prefix}{name}".lower()
        if instead := SUCCEEDED.get(full):
            raise ConfigError(f"the setting {full!r} is gone: {instead}")
        if isinstance(value, Mapping):
            inner = _without_removed(value, f"{full}.")
            if inner or not value:
                kept[name] = inner
        elif why := REMOVED.get(full) or REMOVED.get(full.rpartition(".")[0]):
            told = f"the setting {full!r} is gone and left out: {why}; the next version refuses it"
            warnings.warn(told, FutureWarning, stacklevel=4)
        else:
            kept[name] = value
    return kept


def _unknown(kind: type, name: str, prefix: str) -> str:
    """Return that there is no such setting, with the known name that is most similar; its last part is tried first."""
    told = f"unknown setting {prefix + name!r}"
    known = {found.name: found.name.lower() for found in settings_of(kind, prefix)}
    last = name.lower().rpartition(".")[2]
    last = next((ours for ours, theirs in _FOREIGN.items() if last in theirs.split()), last)
    by_last = {full: lower.rpartition(".")[2] for full, lower in known.items()}
    for names, wanted in ((by_last, last), (known, (prefix + name).lower())):
        for word in difflib.get_close_matches(wanted, names.values(), n=1):
            return f"{told}; did you mean {next(full for full, lower in names.items() if lower == word)!r}?"
    return f"{told}; `neurogated settings` lists those that are known"


def _group(spec: dataclasses.Field[Any], value: Any) -> Any:  # noqa: ANN401
    kind, shorthand = spec.metadata["group"], spec.metadata["shorthand"]
    if isinstance(value, kind):
        return value
    if isinstance(value, Mapping):
        return build(kind, value, prefix=f"{spec.name}.")
    if shorthand and (value is None or isinstance(value, str)):
        return build(kind, {shorthand: value})
    raise ConfigError(f"{spec.name} is {value!r}, but must be a {kind.__name__} or a mapping of its settings")


def _parse(text: str, kinds: tuple[type, ...]) -> Any:  # noqa: ANN401
    if types.NoneType in kinds and text.strip().lower() in _NONE_WORDS:
        return None
    if bool in kinds:
        if (truth := TRUTHS.get(text.strip().lower())) is None:
            raise ConfigError(f"{text!r} is neither true nor false")
        return truth
    for kind in (int, float):
        if kind in kinds:
            return kind(text)
    return text


def _checked(spec: dataclasses.Field[Any], prefix: str, value: Any, kinds: tuple[type, ...]) -> Any:  # noqa: ANN401
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    try:
        if isinstance(value, str):
            if "\0" in value:
                raise ConfigError("a NUL character is not allowed")
            value = _parse(value, kinds)
        elif float in kinds and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) not in kinds:
            raise ConfigError(f"a {type(value).__name__} is not allowed")
    except (ValueError, OverflowError) as error:
        names = " or ".join("none" if kind is types.NoneType else kind.__name__ for kind in kinds)
        raise ConfigError(f"{prefix}{spec.name} is {value!r}, but must be {names} ({error})") from None
    low, high, choices = (spec.metadata[key] for key in ("low", "high", "choices"))
    if isinstance(value, int | float) and not (low <= value <= high and math.isfinite(value)):
        allowed = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise ConfigError(f"{prefix}{spec.name} is {value}, but must be {allowed}")
    if choices and value not in choices:
        raise ConfigError(f"{prefix}{spec.name} is {value!r}, but must be one of {', '.join(choices)}")
    return value
