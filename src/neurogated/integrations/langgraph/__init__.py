"""A memory as a store of LangGraph."""

from neurogated.core.extras import needs_extra

with needs_extra("langgraph"):
    from neurogated.integrations.langgraph.aio import AsyncNeuroStore
    from neurogated.integrations.langgraph.store import NeuroStore

__all__ = ["AsyncNeuroStore", "NeuroStore"]
