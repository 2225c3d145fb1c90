"""Bodies of requests over HTTP, which are read as a whole within bounds."""

import asyncio
import re

from neurogated.core.extras import needs_extra
from neurogated.integrations.mcp.stdio import readable

with needs_extra("mcp"):
    from starlette.exceptions import HTTPException
    from starlette.types import Message, Receive

MOST_BYTES = 1_000_000
"""Of a body."""
PATIENCE = 30.0
"""Seconds in which a body must arrive."""
_MOST_VALUES, _MOST_GROUPS = 50_000, 20_000
"""Values of a body, and lists and objects among them. Python makes an object of each while all other requests wait."""
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def bounded(receive: Receive, most: int, patience: float) -> Receive:
    """Return `receive` that gives the body as a whole, and raises HTTPException for too many bytes, seconds or values.

    A mark of its byte order, or a character that its client has cut in two, would make all of a body unreadable.
    """
    is_whole, deadline = False, asyncio.get_running_loop().time() + patience

    async def whole() -> Message:
        nonlocal is_whole
        parts, total = list[bytes](), 0
        while not is_whole:
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"the body took more than {patience:g} seconds") from None
            if message["type"] != "http.request":
                return message
            parts.append(message.get("body", b""))
            total += len(parts[-1])
            is_whole = not message.get("more_body", False)
            if total > most:
                raise HTTPException(413, too_long(most))
        if not parts:
            # After the body, `receive` waits until the client goes away.
            return await receive()
        body = b"".join(parts)
        if reason := too_many(body):
            raise HTTPException(413, f"the body has {reason}")
        return {"type": "http.request", "body": readable(body), "more_body": False}

    return whole


def too_long(most: int) -> str:
    """Return the reason for which a body is refused."""
    return f"the body has more than {most:,} bytes"


def too_many(body: bytes) -> str | None:
    """Return what a body of JSON has too much of; None if it is fine. It is not parsed, so that takes a millisecond."""
    # A quotation mark behind a backslash is mostly within a text; at most every second one of the others is.
    strings = body.count(b'"') - body.count(b'\\"')
    if strings <= 2 * _MOST_VALUES:
        if max(body.count(b","), _groups(body)) > _MOST_GROUPS:
            # Brackets and commas within texts are no values.
            body = _STRING.sub(b"", body)
        if body.count(b",") <= _MOST_VALUES and _groups(body) <= _MOST_GROUPS:
            return None
    return f"more than {_MOST_VALUES:,} values, or than {_MOST_GROUPS:,} lists and objects; send it in parts"


def _groups(body: bytes) -> int:
    return body.count(b"[") + body.count(b"{")
