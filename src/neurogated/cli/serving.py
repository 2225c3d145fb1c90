"""The server."""

from collections.abc import Sequence
from pathlib import Path

import click

from neurogated.cli.flags import command, user
from neurogated.cli.opening import Flags
from neurogated.core.extras import import_extra
from neurogated.errors import ConfigError

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


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
    if not known.grants and about["host"] not in _LOOPBACK:
        raise ConfigError(f"a server on {about['host']} needs keys; make one with 'neurogated serve --new_key'")
    with flags.open(create=True, serves=True) as memory:
        limits = server.Limits(
            int(about["body"]), float(about["rate"]), float(about["patience"]), int(about["concurrency"])
        )
        app = server.create_app(memory, known, limits=limits, hosts=hosts)
        listening.serve(app, str(about["host"]), int(about["port"]), patience=limits.patience)
