"""Errors as JSON: `{"error": {"type", "message", "request_id"}}` with a fitting status."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from neurogated.core.extras import needs_extra
from neurogated.errors import (
    AmbiguousEdgeError,
    ConfigError,
    InputError,
    LLMError,
    MemoryClosedError,
    NeurogatedError,
    StorageError,
    UnknownIdError,
)

with needs_extra("serve"):
    from fastapi import Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect

    from neurogated.integrations.arguments import advice

_LONGEST = 2_000
"""Characters of a message, which repeats what was sent."""

_log = logging.getLogger(__name__)

_STATUS: dict[type[NeurogatedError], int] = {
    UnknownIdError: 404,
    InputError: 400,
    ConfigError: 400,
    AmbiguousEdgeError: 400,
    LLMError: 502,
    MemoryClosedError: 503,
    StorageError: 503,
}
PREFIX = "/v1"
"""Of the paths of REST."""
_OWN_FAULT = 500
"""From this status on, the message may name files of the server, so it goes to the log only."""
_HEADERS = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": "1"}}


def error_response(
    request_id: str, status: int, message: str, kind: str = "", headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error as JSON; without a kind, its type is the phrase of the status."""
    kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "_")
    # A message may quote text that UTF-8 cannot encode.
    message = message[:_LONGEST].encode(errors="replace").decode() + (" …" if len(message) > _LONGEST else "")
    error = {"type": kind, "message": message, "request_id": request_id}
    return JSONResponse({"error": error}, status, {**(headers or {}), **_HEADERS.get(status, {})})


def handle_errors(app: Starlette) -> None:
    """Answer every error of an app as JSON, without a traceback."""

    async def of_memory(request: Request, error: Exception) -> JSONResponse:
        status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), _OWN_FAULT)
        message = str(error)
        if status >= _OWN_FAULT:
            _log.error("request %s: %s: %s", request.state.request_id, type(error).__name__, message)
            message = "the server cannot do this now; its log has the reason under this request id"
        return error_response(request.state.request_id, status, message, type(error).__name__)

    async def of_http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class
        headers = error.headers
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            # The framework names the methods of one route only. A file has none of these.
            path = request.url.path.removeprefix(PREFIX)
            routes = getattr(request.app.state, "routes", ())
            allowed = {method for one in routes if one.path_regex.fullmatch(path) for method in one.methods}
            headers = {"allow": ", ".join(sorted(allowed))} if allowed else headers
        return error_response(request.state.request_id, error.status_code, str(error.detail), headers=headers)

    async def of_input(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class
        return error_response(request.state.request_id, 422, _advice(error.errors()))

    async def of_client(request: Request, _: Exception) -> JSONResponse:
        return error_response(request.state.request_id, 408, "the client was gone before its turn")

    async def of_server(request: Request, _: Exception) -> JSONResponse:
        # Starlette raises the error again after this answer, and uvicorn logs it.
        return error_response(request.state.request_id, _OWN_FAULT, "the server failed; its log has the reason")

    app.add_exception_handler(NeurogatedError, of_memory)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_input)
    app.add_exception_handler(ClientDisconnect, of_client)
    app.add_exception_handler(Exception, of_server)


def _advice(errors: Sequence[Mapping[str, Any]]) -> str:
    for one in errors:
        if one["loc"] == ("body",) and one["type"] == "too_long":
            return f"the body {one['msg']}"
        if one["loc"] == ("body",) and one["type"] == "unknown":
            return f"{one['msg']} (/openapi.json describes what each request takes)"
        if one["type"] == "json_invalid":
            return f"the body is no JSON ({one['ctx']['error']} at character {one['loc'][-1]})"
        if one["loc"] == ("body",):
            return "send a JSON object as the body, with the header 'Content-Type: application/json'"
    return f"{advice(errors, 1)} (/openapi.json describes what each request takes)"
