"""Single items: operations, values and timestamps."""

import math
import time
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import BaseStore

from langgraph_store_kit.base import DOCS, StoreContractBase, fill, found, value_of

NESTED = {
    "text": "one",
    "number": 1,
    "real": 0.5,
    "yes": True,
    "none": None,
    "list": [1, [2, {"three": 3}]],
    "map": {"a": {}},
}
CLOCK_SKEW = timedelta(seconds=5)


class OperationsContract(StoreContractBase):
    """Putting, getting and deleting one item."""

    def test_a_put_item_is_returned_by_get(self, store: BaseStore) -> None:
        """An item has the namespace, the key and the value of its put."""
        store.put(("docs", "a"), "one", NESTED)
        item = store.get(("docs", "a"), "one")
        assert item is not None
        assert (item.namespace, item.key, item.value) == (("docs", "a"), "one", NESTED)

    def test_a_deleted_item_is_gone(self, store: BaseStore) -> None:
        """Neither get nor search returns a deleted item, and get returns None as for every missing item."""
        fill(store, {"one": {"n": 1}, "two": {"n": 2}})
        store.delete(DOCS, "one")
        assert store.get(("other",), "two") is None
        assert store.get(DOCS, "one") is None
        assert found(store) == ["two"]

    def test_any_text_is_a_key(self, store: BaseStore) -> None:
        """Keys are text without rules: they may be empty, long, or contain every separator and quote."""
        odd = [*"aAé日😀 %_*'\"\\\n", "e\u0301", "a.b", "a/b", "a:b", "../x", "x" * 5_000, "NULL", "0", ""]
        fill(store, {key: {"key": key} for key in odd})
        assert [value_of(store, key) for key in odd] == [{"key": key} for key in odd]
        assert found(store) == sorted(odd)


class ValuesContract(StoreContractBase):
    """Values are mappings with string keys and JSON-serializable values, and are returned unchanged."""

    @staticmethod
    def check(store: BaseStore, value: Any) -> None:  # noqa: ANN401 - JSON
        """Put a value and compare what get and search return."""
        store.put(DOCS, "one", value)
        assert value_of(store, "one") == value
        assert [item.value for item in store.search(DOCS)] == [value]

    @staticmethod
    def check_or_refused(store: BaseStore, value: Any) -> None:  # noqa: ANN401 - nearly JSON
        """Put a value that a store may refuse; what it stores, it returns unchanged."""
        try:
            store.put(DOCS, "odd", value)
        except Exception:  # noqa: BLE001 - stores raise errors of their drivers
            assert store.get(DOCS, "odd") is None
        else:
            # The texts differ in types and in NaN, which equal values do not.
            assert repr(value_of(store, "odd")) == repr(value)

    def test_every_type_of_json_is_kept(self, store: BaseStore) -> None:
        """Booleans stay booleans, numbers stay numbers, and an empty mapping is a value, not a deletion."""
        self.check(store, {})
        self.check_or_refused(store, {"values": [True, False, 1, 0, 0.5, None, "", [], {}]})

    def test_numbers_are_exact(self, store: BaseStore) -> None:
        """Integers of 64 bits and floating-point numbers are not rounded."""
        self.check(
            store, {"n": [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 0.1, 1e-300, 5e-324, 1e22, 1.7976931348623157e308]}
        )

    def test_all_unicode_is_kept(self, store: BaseStore) -> None:
        """Text is neither normalised nor cut, in values and in names of fields."""
        self.check(
            store,
            {"é": "e\u0301", "日本": "😀\U0010ffff", "direction": "\u202e\ufeff", "controls": "\x01\t\r\n\x7f\u2028"},
        )

    def test_nan_is_kept_or_refused(self, store: BaseStore) -> None:
        """NaN is not JSON: a store may refuse it but not replace it."""
        self.check_or_refused(store, {"n": math.nan})

    def test_a_nul_in_a_text_is_kept(self, store: BaseStore) -> None:
        """JSON can express U+0000, so a text may contain it."""
        self.check(store, {"text": "before\0after"})

    def test_large_values_are_returned_whole_and_once(self, store: BaseStore) -> None:
        """A text of 300,000 characters and a value of 2,000 fields are each one item."""
        self.check(store, {"text": "word " * 60_000})
        self.check(store, {str(number): number for number in range(2_000)})

    def test_items_share_no_objects_with_callers(self, store: BaseStore) -> None:
        """Changing a value after its put, or a value that get or search returned, changes no item."""
        value: Any = deepcopy(NESTED)
        store.put(DOCS, "one", value)
        for shared in (value, value_of(store, "one"), store.search(DOCS)[0].value):
            shared["list"][1].append("late")
            shared["text"] = "late"
            assert value_of(store, "one") == NESTED


class TimestampsContract(StoreContractBase):
    """`created_at` and `updated_at`."""

    def test_timestamps_are_times_of_the_put(self, store: BaseStore) -> None:
        """Both are times with a zone, at the put, within the difference of two clocks."""
        before = datetime.now(UTC)
        store.put(DOCS, "one", {"n": 1})
        item = store.get(DOCS, "one")
        assert item is not None
        for moment in (item.created_at, item.updated_at):
            assert moment.tzinfo is not None
            assert before - CLOCK_SKEW <= moment <= datetime.now(UTC) + CLOCK_SKEW
        assert item.created_at <= item.updated_at

    def test_an_overwritten_item_keeps_its_creation_time(self, store: BaseStore) -> None:
        """`created_at` is documented as the time at which the item was first created."""
        store.put(DOCS, "one", {"n": 1})
        first = store.get(DOCS, "one")
        time.sleep(1.1)
        store.put(DOCS, "one", {"n": 2})
        second = store.get(DOCS, "one")
        assert first is not None
        assert second is not None
        assert second.created_at == first.created_at

    def test_an_update_moves_the_time_of_the_update(self, store: BaseStore) -> None:
        """Two updates within a second can be put in order."""
        time.sleep(1 - time.time() % 1)
        store.put(DOCS, "one", {"n": 1})
        first = store.get(DOCS, "one")
        time.sleep(0.05)
        store.put(DOCS, "one", {"n": 2})
        second = store.get(DOCS, "one")
        assert first is not None
        assert second is not None
        assert second.updated_at > first.updated_at
