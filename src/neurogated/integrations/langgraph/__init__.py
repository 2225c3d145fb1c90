"""A memory as a store of LangGraph."""

from neurogated.core.extras import needs_extra

with needs_extra("langgraph"):
    from neurogated.integrations.langgraph.store import AsyncNeuroStore, NeuroStore

__all__ = ["AsyncNeuroStore", "NeuroStore"]
