"""Search without a query: filters and pages."""

from typing import Any

import pytest
from langgraph.store.base import BaseStore

from langgraph_store_kit.base import DOCS, StoreContractBase, fill, found, keys

BIG = 2**53
ODD_FIELDS = ("it's", 'a"b', "a b", "é", "a-b", "a[0]")
NUMBERS = {"two": 2, "nine": 9, "ten": 10, "half": 10.5, "hundred": 100}


def found_or_refused(store: BaseStore, conditions: dict[str, Any]) -> list[str] | None:
    """Return the sorted keys that match a filter, or None if the store refuses it."""
    try:
        return found(store, filter=conditions)
    except Exception:  # noqa: BLE001 - no class of errors is documented
        return None


class FilterContract(StoreContractBase):
    """Filters: equality and the six documented operators."""

    @pytest.fixture
    def numbered(self, store: BaseStore) -> BaseStore:
        """Return a store with one item per number; two others lack the number or have a text instead."""
        fill(store, {key: {"n": number} for key, number in NUMBERS.items()})
        return store

    def test_eq_is_equality(self, store: BaseStore) -> None:
        """`$eq` is documented as the same as a direct comparison."""
        values: list[Any] = [2, 0.5, "2", "", None, [2, "a"]]
        fill(store, {str(number): {"x": value} for number, value in enumerate(values)})
        direct = [found(store, filter={"x": value}) for value in values]
        assert direct == [[str(number)] for number in range(len(values))]
        assert [found(store, filter={"x": {"$eq": value}}) for value in values] == direct

    def test_ne_is_inequality(self, store: BaseStore) -> None:
        """`$ne` matches every other value of the field."""
        fill(store, {"a": {"x": 1}, "b": {"x": 2}, "c": {"x": "1"}, "d": {"x": [1]}, "e": {"x": False}})
        assert found(store, filter={"x": {"$ne": 1}}) == ["b", "c", "d", "e"]
        assert found(store, filter={"x": {"$ne": [1]}}) == ["a", "b", "c", "e"]
        assert found(store, filter={"x": {"$ne": False}}) == ["a", "b", "c", "d"]

    def test_every_item_matches_eq_or_ne(self, store: BaseStore) -> None:
        """`$ne` also matches items without the field, as in MongoDB, which has the same operators."""
        fill(store, {"a": {"x": 1}, "b": {"x": 2}, "null": {"x": None}, "missing": {"y": 1}})
        assert found(store, filter={"x": {"$ne": 1}}) == ["b", "missing", "null"]

    def test_operators_compare_numbers_as_numbers(self, numbered: BaseStore) -> None:
        """9 is less than 10, although its text is not."""
        assert found(numbered, filter={"n": {"$gt": 9}}) == ["half", "hundred", "ten"]
        assert found(numbered, filter={"n": {"$gte": 10}}) == ["half", "hundred", "ten"]
        assert found(numbered, filter={"n": {"$lt": 10}}) == ["nine", "two"]
        assert found(numbered, filter={"n": {"$lte": 10.5}}) == ["half", "nine", "ten", "two"]

    def test_several_operators_of_one_field_form_a_range(self, numbered: BaseStore) -> None:
        """All operators of a field must match."""
        assert found(numbered, filter={"n": {"$gt": 2, "$lt": 100}}) == ["half", "nine", "ten"]

    def test_large_integers_are_compared_exactly(self, store: BaseStore) -> None:
        """Identifiers above 2 ** 53 are not rounded."""
        fill(store, {"a": {"n": BIG}, "b": {"n": BIG + 1}, "c": {"n": BIG + 2}})
        assert found(store, filter={"n": BIG + 1}) == ["b"]
        assert found(store, filter={"n": {"$gt": BIG}}) == ["b", "c"]
        assert found(store, filter={"n": {"$lt": BIG + 1}}) == ["a"]

    def test_operators_compare_texts(self, store: BaseStore) -> None:
        """Dates in ISO 8601 can be compared as texts."""
        fill(store, {"a": {"day": "2024-01-31"}, "b": {"day": "2024-02-01"}, "c": {"day": "2024-10-01"}})
        assert found(store, filter={"day": {"$gte": "2024-02-01"}}) == ["b", "c"]
        assert found(store, filter={"day": {"$lt": "2024-02-01"}}) == ["a"]

    def test_operators_ignore_items_without_the_field(self, numbered: BaseStore) -> None:
        """An item without the field, or with null in it, is neither greater nor less, and is no error."""
        fill(numbered, {"missing": {"m": 1}, "null": {"n": None}})
        assert found(numbered, filter={"n": {"$gt": 10.5}}) == ["hundred"]
        assert found(numbered, filter={"n": {"$lte": 2}}) == ["two"]

    def test_operators_ignore_values_of_other_types(self, numbered: BaseStore) -> None:
        """A text or a list is neither greater nor less than a number, and is no error."""
        fill(numbered, {"text": {"n": "99"}, "list": {"n": [99]}, "word": {"n": "zebra"}})
        assert found(numbered, filter={"n": {"$gt": 10.5}}) == ["hundred"]
        assert found(numbered, filter={"n": {"$lt": 9}}) == ["two"]

    def test_booleans_are_not_numbers(self, store: BaseStore) -> None:
        """True does not equal 1 in JSON, and False does not equal 0."""
        fill(store, {"true": {"x": True}, "one": {"x": 1}, "false": {"x": False}, "zero": {"x": 0}})
        assert [found(store, filter={"x": x}) for x in (True, 1, False, 0)] == [["true"], ["one"], ["false"], ["zero"]]

    def test_nested_values_are_compared(self, store: BaseStore) -> None:
        """A filter may contain mappings and lists of mappings."""
        fill(store, {"a": {"m": {"x": {"y": 1}}}, "b": {"m": {"x": {"y": 2}}}, "c": {"m": 1}, "d": {}})
        assert found(store, filter={"m": {"x": {"y": 1}}}) == ["a"]
        fill(store, {"a": {"l": [{"x": 1}]}, "b": {"l": [{"x": 2}]}})
        assert found(store, filter={"l": [{"x": 1}]}) == ["a"]

    def test_a_dotted_field_is_found(self, store: BaseStore) -> None:
        """`Item` documents that the keys of a value are filterable, and a key may contain a period."""
        fill(store, {"a": {"x.y": 1}, "b": {"x.y": 2}})
        assert found(store, filter={"x.y": 1}) == ["a"]

    def test_any_field_can_be_filtered(self, store: BaseStore) -> None:
        """Fields with quotes, spaces or brackets are filterable as others are."""
        fill(store, {field: {field: 1} for field in ODD_FIELDS})
        assert [found(store, filter={field: 1}) for field in ODD_FIELDS] == [[field] for field in ODD_FIELDS]

    def test_texts_of_a_filter_are_literal(self, store: BaseStore) -> None:
        """No character of a compared text is a pattern or a part of a statement."""
        texts = ["%", "_", "a%", "it's", '"', "\\", "\n", "' OR '1'='1", "é", "null", "1", ""]
        fill(store, {text: {"x": text} for text in (*texts, "abc")})
        assert [found(store, filter={"x": text}) for text in texts] == [[text] for text in texts]

    def test_a_field_is_not_part_of_a_statement(self, store: BaseStore) -> None:
        """A field that looks like SQL matches nothing or is refused."""
        fill(store, {"a": {"x": 1}})
        for field in ("x') = 1 OR ('1' = '1", "x' OR 1=1 --", 'x"; DROP TABLE store; --'):
            assert not found_or_refused(store, {field: 2})
        assert found(store) == ["a"]

    def test_an_unknown_operator_is_refused(self, store: BaseStore) -> None:
        """An operator that is not documented is an error, or it is obeyed, but never ignored."""
        fill(store, {"a": {"x": 1}, "b": {"x": 2}})
        for operator, operand in {"$in": [1], "$nin": [2], "$not": {"$eq": 2}}.items():
            assert found_or_refused(store, {"x": {operator: operand}}) in (["a"], None)

    def test_a_junction_is_obeyed_or_refused(self, store: BaseStore) -> None:
        """A filter of `$and` or `$or` that the store does not know is an error, not an empty result."""
        fill(store, {"a": {"x": 1}, "b": {"x": 2}})
        for operator in ("$and", "$or"):
            assert found_or_refused(store, {operator: [{"x": 1}, {"x": {"$lt": 2}}]}) in (["a"], None)


class PagesContract(StoreContractBase):
    """`limit` and `offset` of a search."""

    @pytest.fixture
    def filled(self, store: BaseStore) -> BaseStore:
        """Return a store with 25 items, of which every fifth is red."""
        fill(store, {f"{number:02}": {"n": number, "red": number % 5 == 0} for number in range(25)})
        return store

    def test_pages_of_a_search_are_complete(self, filled: BaseStore) -> None:
        """All pages together have each item once, and the pages after the end are empty."""
        pages = [keys(filled.search(DOCS, limit=10, offset=offset)) for offset in (0, 10, 20, 30)]
        assert [len(page) for page in pages] == [10, 10, 5, 0]
        assert sorted(key for page in pages for key in page) == [f"{number:02}" for number in range(25)]

    def test_the_order_of_a_search_is_repeatable(self, filled: BaseStore) -> None:
        """Two equal searches without a write between them have the same order, as paging needs."""
        first: list[Any] = keys(filled.search(DOCS, limit=25))
        assert keys(filled.search(DOCS, limit=25)) == first
        assert keys(filled.search(DOCS, limit=5, offset=5)) == first[5:10]
