"""`GraphStoreContract`: the contract of every store, as tests that its author inherits."""

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
    """The contract of a store. A subclass named `Test…` that overrides `open_store` inherits all tests.

    A durable store also overrides `reopen`. A store that can be opened again without a close overrides `kill`. Tests of
    missing abilities are skipped; `pytest -rs` shows the reasons.
    """
