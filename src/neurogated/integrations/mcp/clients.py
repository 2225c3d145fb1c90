"""The configuration of clients: where each keeps its servers, and how one is added."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from neurogated.errors import ConfigError
from neurogated.integrations.mcp.prepared import NAME

_PRIVATE = 0o600


class Client(NamedTuple):
    """Where a client keeps its servers."""

    file: Callable[[], Path]
    """The file, of the user or of the folder in which the command runs."""
    key: str
    """The field of the file that has the servers."""


def install(client: str, arguments: Sequence[str], *, write: bool) -> str:
    """Return the configuration of a client with this server, or write it and say where.

    The other entries of the file stay. A file that changes is copied beside it, to `….backup`, then `….backup1`, ….

    Args:
        client: one of `CLIENTS`.
        arguments: the words after `neurogated`, with which the client starts the server.
        write: change the file.

    Raises:
        ConfigError: the file has no configuration that can be read, or its other entries would change.
    """
    file, key = CLIENTS[client].file().resolve(), CLIENTS[client].key
    entry: dict[str, Any] = {"command": sys.executable, "args": ["-m", NAME, *arguments]}
    try:
        before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
        after = (_toml if file.suffix == ".toml" else _json)(before, key, entry)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{file} cannot be changed ({error}); add the server by hand: {json.dumps(entry)}") from error
    if not write:
        return f"{file} would be:\n\n{after}\nAdd --write to change it."
    if after == before:
        return f"{file} has this server already"
    file.parent.mkdir(parents=True, exist_ok=True)
    # The file may hold passwords of other servers.
    mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else _PRIVATE
    if before:
        names = (file.with_name(f"{file.name}.backup{number or ''}") for number in count())
        _write(next(one for one in names if not one.exists()), before, mode)
    written = file.with_name(f"{file.name}.new")
    _write(written, after, mode)
    written.replace(file)
    return f"wrote {file}; restart the client. It will run: {shlex.join([entry['command'], *entry['args']])}"


def _write(file: Path, text: str, mode: int) -> None:
    file.unlink(missing_ok=True)
    file.touch(_PRIVATE)
    file.chmod(mode)
    file.write_text(text, encoding="utf-8")


def _json(before: str, key: str, entry: Mapping[str, Any]) -> str:
    settings = json.loads(before or "{}")
    settings.setdefault(key, {})[NAME] = entry
    return f"{json.dumps(settings, indent=2, ensure_ascii=False)}\n"


def _toml(before: str, key: str, entry: Mapping[str, Any]) -> str:
    """Append a table, or replace the lines of the one there is; JSON strings are TOML strings."""
    table = f"[{key}.{NAME}]"
    kept, inside = list[str](), False
    for line in before.splitlines():
        if line.strip().startswith("["):
            inside = line.strip() == table or line.strip().startswith(f"[{key}.{NAME}.")
        if not inside:
            kept.append(line)
    added = [table, *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry.items())]
    after = "\n".join([*kept, *([""] if kept and kept[-1] else []), *added, ""])
    wanted = tomllib.loads(before)
    wanted.setdefault(key, {})[NAME] = entry
    if tomllib.loads(after) != wanted:
        raise ValueError("its other entries would change")
    return after


def _desktop() -> Path:
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming"))
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))
    return folder / "Claude" / "claude_desktop_config.json"


CLIENTS = {
    "claude-code": Client(lambda: Path.home() / ".claude.json", "mcpServers"),
    "claude-desktop": Client(_desktop, "mcpServers"),
    "cursor": Client(lambda: Path.home() / ".cursor" / "mcp.json", "mcpServers"),
    "vscode": Client(lambda: Path.cwd() / ".vscode" / "mcp.json", "servers"),
    "codex": Client(lambda: Path(os.environ.get("CODEX_HOME", Path.home() / ".codex")) / "config.toml", "mcp_servers"),
}
"""The clients by name."""
