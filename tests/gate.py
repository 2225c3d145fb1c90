"""A port before a server of databases, which cuts connections and can be shut."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Self
from urllib.parse import parse_qs, urlsplit

__all__ = ["Gate"]

_SIZE = 1 << 16


class Gate:
    """Leads to a port or a unix socket while it is open, and refuses connections while it is shut."""

    url: str

    def __init__(self, server: int | str) -> None:
        self._server = server if isinstance(server, str) else ("127.0.0.1", server)
        self._kind = socket.AF_UNIX if isinstance(server, str) else socket.AF_INET
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._sign: bytes | None = None
        self._forward = True

    @classmethod
    def before(cls, url: str) -> Self:
        """Return a gate before a PostgreSQL server, with the URL of the database behind it."""
        parts = urlsplit(url)
        gate = cls(parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432")
        at = f"127.0.0.1:{gate.port}{parts.path}?sslmode=disable&gssencmode=disable"
        gate.url = f"postgresql://{parts.username}@{at}"
        return gate

    def open(self) -> None:
        listener = socket.create_server(("127.0.0.1", self.port))
        self._sockets.append(listener)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        while self._sockets:
            one = self._sockets.pop()
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    @contextlib.contextmanager
    def cut(self, sign: bytes, *, forward: bool) -> Iterator[None]:
        """Cut the first connection on which a client sends `sign`, before the server has it or before its answer."""
        self._sign, self._forward = sign, forward
        yield
        assert self._sign is None, "the sign was not sent"

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(self._kind) as server, contextlib.suppress(OSError):
            server.connect(self._server)
            self._sockets += [client, server]
            answers = threading.Thread(target=self._answer, args=(server, client), daemon=True)
            answers.start()
            while sent := client.recv(_SIZE):
                if self._sign is not None and self._sign in sent:
                    self._sign = None
                    client.shutdown(socket.SHUT_RDWR)
                    if self._forward:
                        server.sendall(sent)
                    break
                server.sendall(sent)
            # The server sees the end of the connection after it has executed what it received.
            server.shutdown(socket.SHUT_WR)
            answers.join()

    @staticmethod
    def _answer(server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while answer := server.recv(_SIZE):
                with contextlib.suppress(OSError):
                    client.sendall(answer)
            client.shutdown(socket.SHUT_RDWR)
