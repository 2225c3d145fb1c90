"""`GraphStoreContract`: the contract of every store, as tests that its author inherits."""

from graph_store_kit.contract.abilities import AbilitiesContract
from graph_store_kit.contract.history import HistoryContract
from graph_store_kit.contract.reading import ReadingContract
from graph_store_kit.contract.scopes import ScopesContract
from graph_store_kit.contract.times import TimesContract
from graph_store_kit.contract.writing import WritingContract

__all__ = ["GraphStoreContract"]


class GraphStoreContract(
    WritingContract, ReadingContract, ScopesContract, HistoryContract, TimesContract, AbilitiesContract
):
    """The contract of a store. A subclass named `Test…` that overrides `open_store` inherits all tests.

    A durable store also overrides `reopen`. A store that can be opened again without a close overrides `kill`. Tests of
    missing abilities are skipped; `pytest -rs` shows the reasons.
    """
