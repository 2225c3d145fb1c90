"""Self-contained pages: why a recall returned its memories, the tiers of a memory over time, and its conflicts."""

from neurogated.viewer.conflicts import explain_conflicts
from neurogated.viewer.explanation import explain, write_page
from neurogated.viewer.page import render_recall
from neurogated.viewer.tiers import render_tiers

__all__ = ["explain", "explain_conflicts", "render_recall", "render_tiers", "write_page"]
