"""Self-contained pages that tell why a recall returned its memories."""

from neurogated.viewer.page import explain, render_recall, write_page

__all__ = ["explain", "render_recall", "write_page"]
