"""A web server of one memory: REST with OpenAPI, MCP and a page on one port. Needs the extra `serve`."""

from neurogated.server.app import create_app
from neurogated.server.callers import Grant, Keys
from neurogated.server.guard import LOOPBACK, Limits

__all__ = ["LOOPBACK", "Grant", "Keys", "Limits", "create_app"]
