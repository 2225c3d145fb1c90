"""A proxy before a PostgreSQL server that cuts connections."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Self
from urllib.parse import parse_qs, urlsplit

_SIZE = 1 << 16


class Proxy:
    """Forwards connections to the unix socket of a server until it is told to cut one."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sign: bytes | None = None
        self._forward = True
        port = self._listener.getsockname()[1]
        self.url = f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=disable&gssencmode=disable"
        threading.Thread(target=self._accept, daemon=True).start()

    @contextlib.contextmanager
    def cut(self, sign: bytes, *, forward: bool) -> Iterator[None]:
        """Cut the first connection on which a client sends `sign`, before the server has it or before its answer."""
        self._sign, self._forward = sign, forward
        yield
        assert self._sign is None, "the sign was not sent"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            server.connect(self._server)
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
