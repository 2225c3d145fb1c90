"""How a memory is written down before it is embedded."""

from collections.abc import Mapping
from typing import Any

__all__ = ["render"]


def render(content: str, metadata: Mapping[str, Any]) -> str:
    """Return the text that stands for a node before the embedder.

    The title goes above the content, because a passage often does not name what it is about. Words of a dialogue are
    written as reported speech, which finds turns far better than `speaker: text` does.
    """
    speaker, title = metadata.get("speaker"), metadata.get("title")
    text = f'{speaker} said, "{content}"' if speaker else content
    return f"{title}\n{text}" if title else text
