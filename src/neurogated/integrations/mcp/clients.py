"""The configuration of clients: where each keeps its servers, and how one is added."""

import json
import os
import shlex
import stat
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import unified_diff
from itertools import count
from pathlib import Path
from typing import Any

from neurogated.errors import ConfigError
from neurogated.integrations.mcp.stdio import NAME

_PRIVATE = 0o600


def install(client: str, arguments: Sequence[str], *, write: bool) -> str:
    """Return the lines that change in the configuration of a client with this server, which may be written.

    The other entries of the file stay, and so do other values of this server's entry, such as its `env`. A file that
    changes is copied beside it, to `….backup`, then `….backup1`, …. Raises ConfigError if the file has no configuration
    that can be read, or its other entries would change.

    Args:
        client: one of `CLIENTS`.
        arguments: the words after `neurogated`, with which the client starts the server.
        write: change the file.
    """
    find, key = CLIENTS[client]
    file = find().resolve()
    entry: dict[str, Any] = {"command": sys.executable, "args": ["-m", NAME, *arguments]}
    try:
        before = file.read_text(encoding="utf-8-sig") if file.exists() else ""
        shown, after = _changed(file, before, key, entry)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{file} cannot be changed ({error}); add the server by hand: {json.dumps(entry)}") from error
    lines = list(unified_diff(shown.splitlines(), after.splitlines(), lineterm="", n=0))[2:]
    if not lines:
        return f"{file} has this server already"
    changes = "\n".join((f"{file}:", *(line for line in lines if not line.startswith("@@")), ""))
    if not write:
        return f"{changes}\nAdd --write to change it."
    file.parent.mkdir(parents=True, exist_ok=True)
    # The file may hold passwords of other servers.
    mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else _PRIVATE
    if before:
        names = (file.with_name(f"{file.name}.backup{number or ''}") for number in count())
        _write(next(one for one in names if not one.exists()), before, mode)
    written = file.with_name(f"{file.name}.new")
    _write(written, after, mode)
    written.replace(file)
    run = shlex.join([entry["command"], *entry["args"]])
    return f"{changes}\nwrote {file}; restart the client. It will run: {run}"


def _write(file: Path, text: str, mode: int) -> None:
    file.unlink(missing_ok=True)
    file.touch(_PRIVATE)
    file.chmod(mode)
    file.write_text(text, encoding="utf-8")


def _changed(file: Path, before: str, key: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    """Return the settings in a file, and those with the entry, which keeps the other values that it had."""
    is_toml = file.suffix == ".toml"
    settings = tomllib.loads(before) if is_toml else json.loads(before or "{}")
    shown = before if is_toml or not before else _pretty(settings)
    servers = settings.setdefault(key, {})
    old = servers.get(NAME, {})
    servers[NAME] = {**(old if "command" in old else {}), **entry}
    return shown, _toml(before, key, settings) if is_toml else _pretty(settings)


def _pretty(settings: object) -> str:
    return f"{json.dumps(settings, indent=2, ensure_ascii=False)}\n"


def _toml(before: str, key: str, wanted: Mapping[str, Any]) -> str:
    """Append a table, or replace the lines of the one there is."""
    table = f"[{key}.{NAME}]"
    kept, inside = list[str](), False
    for line in before.splitlines():
        if line.strip().startswith("["):
            inside = line.strip() == table or line.strip().startswith(f"[{key}.{NAME}.")
        if not inside:
            kept.append(line)
    added = [table, *(f"{name} = {_value(value)}" for name, value in wanted[key][NAME].items())]
    after = "\n".join([*kept, *([""] if kept and kept[-1] else []), *added, ""])
    if tomllib.loads(after) != wanted:
        raise ValueError("its other entries would change")
    return after


def _value(value: object) -> str:
    """Return a value as TOML; JSON strings are TOML strings."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return f"{{ {', '.join(f'{json.dumps(name)} = {_value(one)}' for name, one in value.items())} }}"


def _desktop() -> Path:
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming"))
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))
    return folder / "Claude" / "claude_desktop_config.json"


CLIENTS: Mapping[str, tuple[Callable[[], Path], str]] = {
    "claude-code": (lambda: Path.home() / ".claude.json", "mcpServers"),
    "claude-desktop": (_desktop, "mcpServers"),
    "cursor": (lambda: Path.home() / ".cursor" / "mcp.json", "mcpServers"),
    "vscode": (lambda: Path.cwd() / ".vscode" / "mcp.json", "servers"),
    "codex": (lambda: Path(os.environ.get("CODEX_HOME", Path.home() / ".codex")) / "config.toml", "mcp_servers"),
}
"""By client, where the file is, of the user or of the folder in which the command runs, and its field of servers."""
