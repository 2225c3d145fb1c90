"""Every error that neurogated raises on purpose. Each is an exception of Python, too."""

_SHOWN = 1_000
"""Characters at the begin and at the end of a message. What a caller gave may be longer than anyone reads."""


class NeurogatedError(Exception):
    """Base of every error raised on purpose."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, which would put the message in quotes.
        text = str(self.args[0]) if len(self.args) == 1 else super().__str__()
        return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]} … {text[-_SHOWN:]}"


class ConfigError(NeurogatedError, ValueError):
    """A setting is unknown, of the wrong type or out of its range."""


class InputError(NeurogatedError, ValueError):
    """A text, vector, node, edge or delta cannot be stored."""


class ExpressionError(InputError):
    """An expression cannot be read, or does not fit an operation.

    Attributes:
        line, column: the place of the fault, both from 1.
        is_unfinished: whether more text could complete the expression.
    """

    def __init__(self, fault: str, text: str, at: int, *, is_unfinished: bool = False) -> None:
        """Take what is wrong with `text` at a position from 0."""
        self.is_unfinished = is_unfinished
        self.line, self.column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        super().__init__(f"{fault} (line {self.line}, column {self.column})")


class DatasetError(InputError):
    """A data file does not match its format; the message names file and position."""


class UnknownIdError(NeurogatedError, KeyError):
    """An id is not in the memory."""


class AmbiguousEdgeError(NeurogatedError, LookupError):
    """Several edges of different types connect the pair."""


class StorageError(NeurogatedError, OSError):
    """The memory on disk cannot be opened, read or written."""


class FormatVersionError(StorageError):
    """Another version of the file format wrote the memory."""


class CorruptMemoryError(StorageError):
    """The file is damaged, or is not a memory."""


class MemoryLockedError(StorageError):
    """Another thread or process holds the lock of the memory."""


class UnreachableError(StorageError):
    """The database of the memory cannot be reached."""


class EmbedderMismatchError(StorageError):
    """Another embedder, or one with another dimension, built the memory."""


class EmbeddingError(NeurogatedError, RuntimeError):
    """The embedding model failed or returned unusable vectors."""


class LLMError(NeurogatedError, RuntimeError):
    """The language model cannot be reached, refuses, or gives an unusable answer."""


class UnusableAnswerError(LLMError):
    """The language model answered, and its answer is cut off or does not fit.

    Attributes:
        partial: what can be read of an answer that is cut off; None if nothing can.
        reason: the fault without words of the prompt or of the answer, so that it may be stored.
    """

    def __init__(
        self, message: str, partial: dict[str, object] | None = None, *, reason: str = "an unusable answer"
    ) -> None:
        """Take the message, what can be read, and the fault."""
        super().__init__(message)
        self.partial = partial
        self.reason = reason


class BudgetExceededError(LLMError):
    """The budget of calls, tokens or money is used up."""


class MemoryClosedError(NeurogatedError, RuntimeError):
    """The memory was used after `close()`."""


class ForkedMemoryError(NeurogatedError, RuntimeError):
    """The memory was opened before the process was forked; only the parent process can use it."""


class MissingExtraError(NeurogatedError, ImportError):
    """An optional package is not installed; the message names the pip command."""
