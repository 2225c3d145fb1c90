"""Runs command lines with the packages of a plain installation only; prints their codes and errors as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tomllib
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from types import ModuleType

from neurogated.cli.app import COMMANDS, main


def _name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def _plain() -> set[str]:
    """Return the distributions that a plain installation brings along."""
    # What is installed may have been built from an earlier list.
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    found, left = {"neurogated"}, list(map(_name, project["dependencies"]))
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [_name(one) for one in requires(name) or () if "extra ==" not in one]
    return found


_PLAIN = _plain()
_HIDDEN = {top for top, owners in packages_distributions().items() if _PLAIN.isdisjoint(map(_name, owners))}


class Plain(PathFinder):
    """Finds no package that only an extra installs."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None if fullname.partition(".")[0] in _HIDDEN else super().find_spec(fullname, path, target)


def run(words: list[str]) -> tuple[str, int, str]:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = main(words)
    return " ".join(words), code, errors.getvalue()


if __name__ == "__main__":
    sys.meta_path[:] = [Plain if one is PathFinder else one for one in sys.meta_path]
    folder = ["--save_dir", sys.argv[1]]
    run(["add", *folder, "Ana lives in Lyon."])
    lines = [[*name.split(), *end] for name in COMMANDS for end in (["--help"], folder)]
    lines.append(["mcp", "install", "--client", "claude-code", *folder])
    done = [run(words) for words in lines if words[0] not in {"demo", "bench"} or "--help" in words]
    sys.stdout.write(json.dumps(done))
