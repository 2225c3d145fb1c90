"""Items that expire."""

import pytest
from langgraph.store.base import BaseStore, GetOp, PutOp

from langgraph_store_kit.base import DOCS, NewStore, StoreContractBase, fill, found, index_of, keys


class ExpiryContract(StoreContractBase):
    """TTL: the time to live of items, in minutes, and its configuration."""

    @pytest.fixture
    def timed(self, opened: NewStore) -> BaseStore:
        """Return a new, empty store with the documented defaults; skip the test if items cannot expire."""
        self.require("ttl", "expiry")
        return opened(ttl={})

    def test_an_expired_item_is_swept(self, timed: BaseStore) -> None:
        """A sweep deletes the items whose time has passed, and only those, and returns their number."""
        timed.put(DOCS, "short", {"n": 1}, ttl=self.lifetime)
        timed.put(DOCS, "brief", {"n": 1}, ttl=self.lifetime)
        timed.put(DOCS, "long", {"n": 2}, ttl=self.lifetime * 100)
        timed.put(DOCS, "forever", {"n": 3})
        assert self.sweep(timed) == 0
        self.pass_lifetime(timed)
        assert self.sweep(timed) == 2
        assert found(timed) == ["forever", "long"]
        assert self.sweep(timed) == 0

    def test_a_sweep_deletes_vectors(self, opened: NewStore) -> None:
        """A swept item is not found by a query, and neither is its successor by the old text."""
        self.require("ttl", "expiry")
        self.require("vectors", "vector search")
        store = opened(ttl={}, index=index_of())
        store.put(DOCS, "short", {"text": "green pears"}, ttl=self.lifetime)
        store.put(DOCS, "forever", {"text": "pears"})
        self.pass_lifetime(store)
        self.sweep(store)
        store.put(DOCS, "short", {"text": "sea"}, index=False)
        assert keys(store.search(DOCS, query="green pears"))[0] == "forever"

    def test_expired_items_are_omitted_from_get(self, expiring: BaseStore) -> None:
        """`omit_expired` hides an expired item before a sweep deletes it."""
        expiring.put(DOCS, "one", {"n": 1}, ttl=self.lifetime)
        assert expiring.get(DOCS, "one", refresh_ttl=False) is not None
        self.pass_lifetime(expiring)
        assert expiring.get(DOCS, "one") is None

    def test_expired_items_are_omitted_from_search(self, expiring: BaseStore) -> None:
        """An expired item takes no place on a page."""
        fill(expiring, {f"a{number}": {"n": 1} for number in range(5)}, ttl=self.lifetime)
        fill(expiring, {f"b{number}": {"n": 1} for number in range(5)})
        fill(expiring, {f"c{number}": {"n": 1} for number in range(5)}, ttl=self.lifetime)
        self.pass_lifetime(expiring)
        assert sorted(keys(expiring.search(DOCS, limit=5))) == [f"b{number}" for number in range(5)]

    def test_expired_items_are_omitted_from_listings(self, expiring: BaseStore) -> None:
        """A namespace whose items have all expired is not listed."""
        expiring.put(("short",), "one", {"n": 1}, ttl=self.lifetime)
        expiring.put(("long",), "one", {"n": 1})
        self.pass_lifetime(expiring)
        assert expiring.list_namespaces() == [("long",)]

    def test_expired_items_are_not_revived(self, expiring: BaseStore) -> None:
        """Reading an omitted item does not refresh it."""
        expiring.put(DOCS, "one", {"n": 1}, ttl=self.lifetime)
        self.pass_lifetime(expiring)
        expiring.get(DOCS, "one", refresh_ttl=True)
        expiring.search(DOCS, refresh_ttl=True)
        assert expiring.get(DOCS, "one") is None
        self.sweep(expiring)
        assert expiring.get(DOCS, "one") is None

    def test_items_have_the_configured_ttl(self, opened: NewStore) -> None:
        """`default_ttl` holds for puts without a ttl; a put may name another, or None for ever."""
        self.require("ttl", "expiry")
        store = opened(ttl={"default_ttl": self.lifetime})
        store.put(DOCS, "usual", {"n": 1})
        store.put(DOCS, "long", {"n": 2}, ttl=self.lifetime * 100)
        store.put(DOCS, "forever", {"n": 3}, ttl=None)
        self.pass_lifetime(store)
        self.sweep(store)
        assert found(store) == ["forever", "long"]

    def test_a_get_refreshes(self, timed: BaseStore) -> None:
        """A read restarts the time, by default."""
        fill(timed, {"read": {"n": 1}, "unread": {"n": 1}}, ttl=self.lifetime)
        self.pass_soon(timed)
        timed.get(DOCS, "read")
        self.pass_soon(timed)
        self.sweep(timed)
        assert found(timed) == ["read"]

    def test_a_search_refreshes_what_it_returns(self, timed: BaseStore) -> None:
        """A search restarts the time of its results, and of no other item."""
        fill(timed, {"found": {"n": 1}, "other": {"n": 2}}, ttl=self.lifetime)
        self.pass_soon(timed)
        timed.search(DOCS, filter={"n": 1})
        self.pass_soon(timed)
        self.sweep(timed)
        assert found(timed) == ["found"]

    def test_refreshing_can_be_configured(self, opened: NewStore) -> None:
        """With `refresh_on_read` False, only reads that ask for it refresh."""
        self.require("ttl", "expiry")
        store = opened(ttl={"refresh_on_read": False})
        fill(store, {"read": {"n": 1}, "refreshed": {"n": 1}}, ttl=self.lifetime)
        self.pass_soon(store)
        store.get(DOCS, "read")
        store.get(DOCS, "refreshed", refresh_ttl=True)
        self.pass_soon(store)
        self.sweep(store)
        assert found(store) == ["refreshed"]

    def test_a_put_restarts_the_time(self, timed: BaseStore) -> None:
        """An overwritten item has the ttl of the new put, or none."""
        fill(timed, {"again": {"n": 1}, "forever": {"n": 1}}, ttl=self.lifetime)
        self.pass_soon(timed)
        timed.put(DOCS, "again", {"n": 2}, ttl=self.lifetime)
        timed.put(DOCS, "forever", {"n": 2})
        self.pass_soon(timed)
        self.sweep(timed)
        assert found(timed, refresh_ttl=False) == ["again", "forever"]
        self.pass_lifetime(timed)
        self.sweep(timed)
        assert found(timed) == ["forever"]

    def test_each_operation_of_a_batch_has_its_own_ttl(self, opened: NewStore) -> None:
        """`PutOp.ttl` and `GetOp.refresh_ttl` hold for their item only."""
        self.require("ttl", "expiry")
        store = opened(ttl={"refresh_on_read": True})
        fill(store, {"refreshed": {"n": 1}, "read": {"n": 1}}, ttl=self.lifetime)
        store.batch([PutOp(DOCS, "short", {"n": 1}, ttl=self.lifetime), PutOp(DOCS, "forever", {"n": 1})])
        self.pass_soon(store)
        store.batch([GetOp(DOCS, "refreshed"), GetOp(DOCS, "read", refresh_ttl=False)])
        self.pass_soon(store)
        self.sweep(store)
        assert found(store) == ["forever", "refreshed"]

    def test_a_ttl_outlives_a_restart(self, durable_place: str) -> None:
        """An item expires although the store was closed in the meantime."""
        self.require("ttl", "expiry")
        with self.open_store(durable_place, ttl={}) as store:
            store.put(DOCS, "short", {"n": 1}, ttl=self.lifetime)
            store.put(DOCS, "forever", {"n": 1})
        with self.open_store(durable_place, ttl={"omit_expired": True}) as store:
            self.pass_lifetime(store)
            assert self.sweep(store) == 1
            assert found(store) == ["forever"]
