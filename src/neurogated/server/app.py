"""The app: its routes, and what surrounds them."""

import os
from collections.abc import Collection
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

from neurogated.core.extras import needs_extra
from neurogated.memory import NeuroGraphMemory
from neurogated.server import models
from neurogated.server.callers import Grant, Keys, bearer, grant_in
from neurogated.server.errors import PREFIX, handle_errors
from neurogated.server.guard import CONTENT_TYPE, Guard, Limits, Metrics
from neurogated.server.map import router as map_router
from neurogated.server.mcp import McpServers
from neurogated.server.queue import CallQueue
from neurogated.server.routes import router as table_router
from neurogated.version import __version__

with needs_extra("serve"):
    from fastapi import APIRouter, Depends, FastAPI, HTTPException
    from fastapi.responses import PlainTextResponse
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.routing import Route
    from starlette.staticfiles import StaticFiles

_PAGE = Path(__file__).with_name("page")
_MCP = "/mcp"
_FAILURES = (400, 401, 403, 404, 408, 413, 421, 422, 429, 500, 503)


def create_app(
    memory: NeuroGraphMemory, keys: Keys | None = None, *, limits: Limits | None = None, hosts: Collection[str] = ()
) -> FastAPI:
    """Return the ASGI app of a memory, which stays open for as long as the app runs.

    Args:
        memory: the memory. Keys of other namespaces open their graphs, too.
        keys: who may ask. Without keys, everyone who reaches the app sees all users, so bind it to loopback.
        limits: of bodies and of requests in a second.
        hosts: names of this computer besides those of loopback that requests without keys may ask.

    Raises:
        MissingExtraError: the extra `serve` is not installed.
        ConfigError: the memory cannot open the namespace of a key.
    """
    keys, limits, metrics = keys or Keys(), limits or Limits(), Metrics()
    protocol = McpServers(_MCP, limits.body)
    own = memory.config.namespace
    app = FastAPI(
        title="neurogated",
        version=__version__,
        description="Memory for AI agents as a graph of typed edges.",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lambda _: protocol.running(),
    )
    names = {grant.namespace for grant in keys.grants.values()} - {own}
    app.state.graphs = {own: memory, **{name: memory.in_namespace(name) for name in names}}
    app.state.queue = CallQueue()
    handle_errors(app)
    failures: dict[int | str, dict[str, object]] = {status: {"model": models.Failure} for status in _FAILURES}
    routers, about = (table_router, map_router), _about(metrics, own)
    app.state.routes = [route for router in (*routers, about) for route in router.routes]
    for router in routers:
        app.include_router(router, prefix=PREFIX, responses=failures, dependencies=[Depends(bearer)])
    # A model would be described as plain text there.
    as_json = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
    described: dict[int | str, dict[str, object]] = {
        status: {"description": HTTPStatus(status).phrase, "content": as_json} for status in _FAILURES
    }
    app.include_router(about, responses=described)
    app.router.routes.append(Route(_MCP, protocol, include_in_schema=False))
    if _PAGE.is_dir():
        # The pages of the viewer have the same style.
        files = GZipMiddleware(_Files(directory=_PAGE, packages=[("neurogated.viewer", "templates")], html=True))
        # A mount would also answer every unknown path of REST.
        app.router.routes += [Route(path, files, methods=["GET"], include_in_schema=False) for path in ("/", "/{file}")]
    app.add_middleware(Guard, keys=keys, namespace=own, limits=limits, metrics=metrics, hosts=hosts)
    return app


class _Files(StaticFiles):
    """The files of the page, without the template of the viewer beside its style."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        return ("", None) if path.endswith(".j2") else super().lookup_path("docs.html" if path == "docs" else path)


def _about(metrics: Metrics, namespace: str) -> APIRouter:
    router = APIRouter(tags=["server"])

    @router.head("/health", include_in_schema=False)
    @router.get("/health")
    async def health() -> models.Health:
        """Say that the server can answer."""
        return models.Health(version=__version__)

    @router.get("/metrics", response_class=PlainTextResponse, dependencies=[Depends(bearer)])
    async def requests(grant: Annotated[Grant, Depends(grant_in)]) -> PlainTextResponse:
        """Return the metrics for Prometheus, with a key for all users of the server's own graph."""
        if (grant.namespace, grant.user_id) != (namespace, None):
            raise HTTPException(403, "metrics count the requests of all users; use a key for all users")
        return PlainTextResponse(metrics.text(), media_type=CONTENT_TYPE)

    return router
