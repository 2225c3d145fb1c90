"""`LangGraphStoreContract`: all probes of a store of LangGraph."""

from langgraph_store_kit.batches import AsyncContract, BatchContract
from langgraph_store_kit.expiry import ExpiryContract
from langgraph_store_kit.indexing import IndexContract, QueryContract
from langgraph_store_kit.items import OperationsContract, TimestampsContract, ValuesContract
from langgraph_store_kit.lasting import ConcurrencyContract, DurabilityContract, SizeContract
from langgraph_store_kit.namespaces import ListingContract, NamespaceContract
from langgraph_store_kit.searching import FilterContract, PagesContract


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
