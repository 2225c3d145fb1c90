"""The tokenizer of any model, through the tokenizers library."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neurogated.core.extras import import_extra

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

__all__ = ["TOKENIZER_FILE", "LibraryTokenizer"]

TOKENIZER_FILE = "tokenizer.json"


class LibraryTokenizer:
    """A tokenizer read from a file."""

    def __init__(self, path: Path) -> None:
        """Read a file of the library. Raises MissingExtraError if the library is not installed."""
        self._path = path
        self._cutting = self._read()

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[Encoding]:
        """Return at most `max_tokens` tokens of each text, including special tokens."""
        if (self._cutting.truncation or {}).get("max_length") != max_tokens:
            self._cutting.enable_truncation(max_tokens)
        return self._cutting.encode_batch_fast(list(texts))

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text, without special tokens."""
        return [len(encoding) for encoding in self._whole.encode_batch_fast(list(texts), add_special_tokens=False)]

    @functools.cached_property
    def _whole(self) -> Tokenizer:
        tokenizer = self._read()
        tokenizer.no_truncation()
        return tokenizer

    def _read(self) -> Tokenizer:
        tokenizer: Tokenizer = import_extra("tokenizers", "gpu").Tokenizer.from_file(str(self._path))
        tokenizer.no_padding()
        return tokenizer
