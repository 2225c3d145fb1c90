"""Self-contained pages that tell why a recall returned its memories."""

from neurogated.viewer.explanation import explain, write_page
from neurogated.viewer.page import render_recall

__all__ = ["explain", "render_recall", "write_page"]
