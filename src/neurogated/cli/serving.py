"""`serve` and `mcp`: servers over HTTP and of the Model Context Protocol."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from neurogated.cli.flags import command, user
from neurogated.cli.opening import Flags
from neurogated.config.memory_config import MemoryConfig
from neurogated.config.setting import settings_of, value_of
from neurogated.core.extras import import_extra
from neurogated.errors import ConfigError
from neurogated.integrations.mcp.clients import CLIENTS, install
from neurogated.integrations.mcp.stdio import Relay

_APART = {"save_dir", "read_only", "force_index_from_scratch"}
"""Settings with words of their own in the installed command, and one that deletes."""
_user = user("whose memories it shows")
_project = click.option("--project", metavar="NAME", multiple=True, help="show only the memories of this project")
_memory_tool = click.option("--memory_tool", is_flag=True, help="serve Anthropic's memory tool as well")


@command("mcp")
@_user
@_project
@_memory_tool
@click.pass_context
def mcp(context: click.Context, flags: Flags, *, project: tuple[str, ...], memory_tool: bool) -> None:
    owner = import_extra("neurogated.integrations.mcp.tools", "mcp").ServedOwner(flags.owner["user_id"], project)
    build = import_extra("neurogated.integrations.mcp.server", "mcp").build
    with flags.open(create=True) as memory:
        relay: Relay = context.find_root().obj or Relay()
        server = build(memory, owner, read_only=memory.config.read_only, memory_tool=memory_tool, saved=relay.saved)
        relay.start()
        server.run()
        relay.finish()


@command("mcp install")
@click.option("--client", type=click.Choice(tuple(CLIENTS)), required=True, help="the program that starts the server")
@click.option("--write", is_flag=True, help="change its file, not only show the change")
@_user
@_project
@_memory_tool
def mcp_install(flags: Flags, *, client: str, write: bool, project: tuple[str, ...], memory_tool: bool) -> None:
    words = _words(flags.memory_config(), flags.owner["user_id"], project)
    print(install(client, [*words, *(["--memory_tool"] if memory_tool else ())], write=write))
    if find_spec("mcp") is None:
        click.echo("warning: the client cannot start this server yet: pip install 'neurogated[mcp]'", err=True)


def _words(config: MemoryConfig, user_id: str | None, project: tuple[str, ...]) -> Iterator[str]:
    """Yield the words with which a client starts the server from any folder, also without this environment."""
    yield from ("mcp", "--save_dir", str(Path(config.save_dir).absolute()))
    plain = MemoryConfig()
    for name in (one.name for one in settings_of(MemoryConfig) if one.name not in _APART):
        value = value_of(config, name)
        if value != value_of(plain, name):
            text = "none" if value is None else str(value)
            yield from ("--set", f"{name}={text}") if "." in name else (f"--{name}", text)
    if user_id is not None:
        yield from ("--user_id", user_id)
    for name in project:
        yield from ("--project", name)
    if config.read_only:
        yield "--read_only"


@command("serve")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="another one needs keys")
@click.option("--port", type=click.IntRange(0, 65535), default=8420, show_default=True, help="0: any free port")
@click.option("--keys", metavar="FILE", help="the keys (default: server_keys.json beside the memory)")
@click.option("--new_key", is_flag=True, help="make a key for --user_id, or for all users, print it and stop")
@user("the only user that the new key sees")
@click.option("--rate", type=click.FloatRange(min=1), default=500, show_default=True, help="requests of a key a second")
@click.option("--body", type=click.IntRange(1), default=1_000_000, show_default=True, help="most bytes of a request")
@click.option("--patience", type=click.FloatRange(min=0.1), default=30, show_default=True, help="seconds for a request")
@click.option("--concurrency", type=click.IntRange(1), default=100, show_default=True, help="requests of a key at once")
@click.option("--allow_host", "hosts", metavar="NAME", multiple=True, help="another name of this computer")
def serve(flags: Flags, keys: str | None, hosts: Sequence[str], *, new_key: bool, **about: str | float) -> None:
    server = import_extra("neurogated.server", "serve")
    listening = import_extra("neurogated.cli.listening", "serve")
    config = flags.memory_config()
    file = Path(keys) if keys else Path(config.save_dir) / "server_keys.json"
    known = server.Keys.read(file)
    if new_key:
        key = known.create(file, server.Grant(config.namespace, flags.owner["user_id"]))
        flags.emit({"key": key, "file": str(file)}, key)
        return
    if not known.grants and about["host"] not in server.LOOPBACK:
        raise ConfigError(f"a server on {about['host']} needs keys; make one with 'neurogated serve --new_key'")
    with flags.open(create=True, serves=True) as memory:
        limits = server.Limits(*(about[name] for name in ("body", "rate", "patience", "concurrency")))
        app = server.create_app(memory, known, limits=limits, hosts=hosts)
        listening.serve(app, str(about["host"]), int(about["port"]), patience=limits.patience)
