"""`GraphStoreContract`: what every store does, as tests that its author inherits."""

from neurogated.testing.contract.abilities import AbilitiesContract
from neurogated.testing.contract.history import HistoryContract
from neurogated.testing.contract.reading import ReadingContract
from neurogated.testing.contract.scopes import ScopesContract
from neurogated.testing.contract.times import TimesContract
from neurogated.testing.contract.writing import WritingContract

__all__ = ["GraphStoreContract"]


class GraphStoreContract(
    WritingContract, ReadingContract, ScopesContract, HistoryContract, TimesContract, AbilitiesContract
):
    """The contract of a store; a subclass named `Test…` that says how a store is made inherits all its tests.

    A durable store also overrides `reopen`, and `kill` where it can be opened again without having been closed. What a
    store cannot do is skipped with the reason, which `pytest -rs` shows.
    """
