"""Self-contained pages: why a recall returned its memories, and the tiers of a memory over time."""

from neurogated.viewer.explanation import explain, write_page
from neurogated.viewer.page import render_recall
from neurogated.viewer.tiers import render_tiers

__all__ = ["explain", "render_recall", "render_tiers", "write_page"]
