"""`LangGraphStoreContract`: all probes of a store of LangGraph."""

from neurogated.testing.langgraph.batches import AsyncContract, BatchContract
from neurogated.testing.langgraph.expiry import ExpiryContract
from neurogated.testing.langgraph.indexing import IndexContract, QueryContract
from neurogated.testing.langgraph.items import OperationsContract, TimestampsContract, ValuesContract
from neurogated.testing.langgraph.lasting import ConcurrencyContract, DurabilityContract, SizeContract
from neurogated.testing.langgraph.namespaces import ListingContract, NamespaceContract
from neurogated.testing.langgraph.searching import FilterContract, PagesContract


class LangGraphStoreContract(
    OperationsContract,
    ValuesContract,
    TimestampsContract,
    NamespaceContract,
    ListingContract,
    FilterContract,
    PagesContract,
    QueryContract,
    IndexContract,
    ExpiryContract,
    BatchContract,
    AsyncContract,
    DurabilityContract,
    ConcurrencyContract,
    SizeContract,
):
    """The contract of a store. A subclass named `Test…` that overrides `open_store` inherits all tests.

    The attributes `vectors`, `ttl`, `asynchronous`, `durable` and `shared` declare what the store can do. Tests of the
    rest are skipped; `pytest -rs` shows and counts them. A store on a server also overrides the fixture `place`.
    """
