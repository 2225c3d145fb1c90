"""A port for an ASGI app: connections that send nothing are closed, and there are never too many."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import logging
import signal
import socket
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from neurogated.core.extras import needs_extra
from neurogated.errors import ConfigError

if sys.platform != "win32":
    import resource

with needs_extra("serve"):
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from neurogated.server.errors import error_response

_GRACE = 10
"""Seconds that a stopping server gives the requests that it is answering."""
_IDLE = 60
"""Seconds for which a connection may wait for its next request; a client may keep it as long as it thinks."""
_SWITCH = 0.0005
"""Seconds for which a thread computes before a request gets its turn."""
_MOST_OPEN, _PENDING = 1_000, 1_024
"""Most open connections, fewer if the process may open few files; and most that wait to be accepted."""
_SAME, _PERIOD = 10, 60.0
"""Most lines that one statement logs in so many seconds."""


def serve(app: Callable[..., Any], host: str, port: int, *, patience: float = 30.0) -> None:
    """Serve an ASGI app over HTTP until the process is interrupted or terminated, after the answers to its requests.

    Print the address. Port 0 is any free one. Within `patience` seconds the headers of a request must arrive, and a
    client must read on. Raises ConfigError if the port is in use, or the address is not one of this computer.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        opened = socket.create_server((host, port), family=family, backlog=_PENDING)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}, port {port} ({error.strerror}); give another --port (0: any free one) or --host"
        ) from error
    # A request waits for the interpreter up to this long whenever another thread computes.
    sys.setswitchinterval(_SWITCH)
    # At most half of the files that the process may open are connections; only Unix has a limit.
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if sys.platform != "win32" else -1
    most = min(_MOST_OPEN, files // 2) if files > 0 else _MOST_OPEN
    config = uvicorn.Config(
        _Stopping(app),
        http=functools.partial(_Connection, idle=OrderedDict(), most=most, patience=patience),  # type: ignore[arg-type]
        # The loop accepts so many at once, and closes others only some rounds later.
        backlog=most // 8,
        ws="none",
        log_level="warning",
        server_header=False,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_GRACE,
    )
    for name in ("uvicorn.error", "asyncio", "neurogated.server.errors"):
        logging.getLogger(name).addFilter(_Sparing())
    name = f"[{host}]" if ":" in host else host
    print(f"http://{name}:{opened.getsockname()[1]}", flush=True)
    print("stop with Ctrl-C", file=sys.stderr)
    # After it has stopped, uvicorn raises the signal again. The memory must still be closed then.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # What the packages have created stays; each full collection would look through it while all requests wait.
    gc.freeze()
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config).run(sockets=[opened])


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_PENDING)


class _Connection(H11Protocol):
    """A connection with a deadline for headers, and one for a client that does not read.

    When too many are open, the one that has waited longest for a request is closed. If all are answered, a new one is
    refused.
    """

    def __init__(self, *, idle: OrderedDict[_Connection, None], most: int, patience: float, **of_uvicorn: Any) -> None:  # noqa: ANN401
        super().__init__(**of_uvicorn)
        self._idle, self._most, self._patience = idle, most, patience
        self._headers: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # The head and the body of an answer are two small writes. Without this, the second one waits for the client's
        # delayed acknowledgement, about 40 ms. asyncio sets it only for sockets whose protocol is named.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if len(self.connections) > self._most:
            if not self._idle:
                self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
                return
            self._idle.popitem(last=False)[0].transport.abort()
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_answering():
            self._stop_waiting()
        else:
            self._await_headers()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_answering():
            self._idle[self] = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(self._patience, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reading.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _is_answering(self) -> bool:
        # uvicorn has no cycle before the first request.
        return self.cycle is not None and not self.cycle.response_complete  # type: ignore[redundant-expr]

    def _await_headers(self) -> None:
        self._idle[self] = None
        if self._headers is None:
            self._headers = self.loop.call_later(self._patience, self._refuse, HTTPStatus.REQUEST_TIMEOUT)

    def _stop_waiting(self) -> None:
        self._idle.pop(self, None)
        if self._headers is not None:
            self._headers.cancel()
            self._headers = None

    def _refuse(self, status: HTTPStatus) -> None:
        if not self.transport.is_closing():
            body = bytes(error_response("", status, status.description).body)
            head = f"HTTP/1.1 {status} {status.phrase}\r\nconnection: close\r\ncontent-type: application/json\r\n"
            self.transport.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            self.transport.close()


class _Stopping:
    """Answers the requests that a stopping server cancels. An error of theirs would be logged with its traceback."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - those of ASGI
        begun = False

        async def noted(message: Any) -> None:  # noqa: ANN401
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            if not begun:
                status, headers = HTTPStatus.SERVICE_UNAVAILABLE, {"connection": "close"}
                await error_response("", status, "the server stops", headers=headers)(scope, receive, send)


class _Sparing(logging.Filter):
    """Lets few lines of one statement pass, so that no client fills the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._passed: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        place, now = (record.pathname, record.lineno), time.monotonic()
        begin, count = self._passed.get(place, (now, 0))
        if now - begin >= _PERIOD:
            begin, count = now, 0
        self._passed[place] = begin, count + 1
        if count == _SAME:
            record.msg, record.args = f"{record.getMessage()} (more lines like this are left out for a minute)", ()
        return count <= _SAME
