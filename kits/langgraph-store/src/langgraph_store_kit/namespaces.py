"""Namespaces: which are valid, which a prefix contains, and how they are listed."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, Op, PutOp, SearchOp

from langgraph_store_kit.base import StoreContractBase, keys, value_of

Namespace = tuple[str, ...]
BAD_LABELS: tuple[Any, ...] = (("a.b",), ("a", ""), ("a", 1), (None,), ("a\0b",))
LISTED: tuple[Namespace, ...] = (
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("users", "1", "v1"),
    ("users", "2", "v1"),
    ("users", "2", "v2"),
)


def put_into(store: BaseStore, namespaces: Iterable[Namespace]) -> None:
    """Put one item, named by its namespace, into each namespace."""
    store.batch([PutOp(namespace, "|".join(namespace), {"n": 1}) for namespace in namespaces])


def refuses(call: Callable[..., Any], namespaces: Iterable[Any]) -> None:
    """Assert that a call with each namespace raises the documented error."""
    for namespace in namespaces:
        with pytest.raises(InvalidNamespaceError):
            call(namespace)


class NamespaceContract(StoreContractBase):
    """Valid namespaces, and what is in them."""

    def test_other_methods_refuse_invalid_labels(self, store: BaseStore) -> None:
        """The documentation of get, search, delete and list_namespaces lists the error."""
        refuses(lambda namespace: store.get(namespace, "one"), BAD_LABELS)
        refuses(store.search, BAD_LABELS)
        refuses(lambda namespace: store.delete(namespace, "one"), BAD_LABELS)
        refuses(lambda namespace: store.list_namespaces(prefix=namespace), BAD_LABELS)
        refuses(lambda namespace: store.list_namespaces(suffix=namespace), BAD_LABELS)

    def test_an_invalid_label_in_a_batch_is_refused_or_kept_apart(self, store: BaseStore) -> None:
        """An operation with an invalid label neither reaches another namespace nor disables the listing."""
        store.put(("a", "b"), "one", {"n": 1})
        labels: tuple[Any, ...] = ("a.b", None, 1, "", "a\0b")
        for label in labels:
            ops: list[Op] = [GetOp((label,), "one"), SearchOp((label,)), PutOp((label,), "one", {"n": 2})]
            for op in ops:
                with suppress(ValueError):
                    assert not store.batch([op])[0]
        assert value_of(store, "one", ("a", "b")) == {"n": 1}
        assert ("a", "b") in store.list_namespaces()

    def test_a_prefix_matches_whole_labels(self, store: BaseStore) -> None:
        """A search in ("user",) finds nothing in ("users",)."""
        put_into(store, [("user",), ("user", "a"), ("users",), ("users", "a"), ("us",)])
        assert sorted(keys(store.search(("user",)))) == ["user", "user|a"]

    def test_special_characters_in_labels_are_literal(self, store: BaseStore) -> None:
        """No character of a label of a search is a pattern."""
        special = ["%", "_", "*", "?", "[ab]", "\\", "a%", "a_c", "a*", "^a", "$", "'", '"']
        put_into(store, [(label, "x") for label in (*special, "abc", "a", "b")])
        assert [keys(store.search((label,))) for label in special] == [[f"{label}|x"] for label in special]

    def test_special_characters_in_a_listing_are_literal(self, store: BaseStore) -> None:
        """No character of a prefix or a suffix is a pattern, except a label of one star."""
        special = ["%", "_", "?", "[ab]", "\\", "a%", "a_c", "a*", "^a", "$", "'"]
        put_into(store, [(label, "x", label) for label in (*special, "abc", "a", "b")])
        assert [store.list_namespaces(prefix=(label,)) for label in special] == [[(n, "x", n)] for n in special]
        assert [store.list_namespaces(suffix=(label,)) for label in special] == [[(n, "x", n)] for n in special]

    def test_separators_in_labels_join_no_namespaces(self, store: BaseStore) -> None:
        """A tuple of labels is one namespace, whatever the labels contain."""
        same = [n for s in "/:|,;\n\t-_ \x1f" for n in ((f"a{s}b",), ("a", f"b{s}c"), (f"a{s}b", "c"))]
        put_into(store, [("a", "b"), ("a", "b", "c"), *same])
        assert sorted(store.list_namespaces()) == sorted([("a", "b"), ("a", "b", "c"), *same])
        assert sorted(item.namespace for item in store.search((), limit=100)) == sorted(store.list_namespaces())


class ListingContract(StoreContractBase):
    """`list_namespaces`."""

    @pytest.fixture
    def listed(self, store: BaseStore) -> BaseStore:
        """Return a store with one item in each of the namespaces `LISTED`."""
        put_into(store, LISTED)
        return store

    def test_a_prefix_and_a_suffix_are_matched_from_their_ends(self, listed: BaseStore) -> None:
        """Both contain the namespace itself; both given must match."""
        assert sorted(listed.list_namespaces(prefix=("a", "b"))) == list(LISTED[:4])
        assert sorted(listed.list_namespaces(suffix=("f",))) == list(LISTED[3:6])
        assert sorted(listed.list_namespaces(prefix=("a",), suffix=("c", "f"))) == [("a", "c", "f")]
        assert listed.list_namespaces(prefix=("a", "b", "c")) == [("a", "b", "c")]
        assert listed.list_namespaces(suffix=("x", "a", "b", "c")) == []

    def test_a_star_matches_exactly_one_label(self, listed: BaseStore) -> None:
        """`NamespacePath` documents wildcards in prefixes and suffixes."""
        assert sorted(listed.list_namespaces(prefix=("*", "b"))) == list(LISTED[:4])
        assert sorted(listed.list_namespaces(suffix=("*", "*", "f"))) == list(LISTED[3:6])
        assert sorted(listed.list_namespaces(prefix=("users", "*", "v1"))) == list(LISTED[6:8])
        assert sorted(listed.list_namespaces(suffix=("2", "*"))) == list(LISTED[7:])
        assert listed.list_namespaces(prefix=("users", "*", "*", "*")) == []

    def test_deep_namespaces_are_truncated_and_listed_once(self, listed: BaseStore) -> None:
        """`max_depth` truncates; the documented example holds."""
        assert sorted(listed.list_namespaces(prefix=("a", "b"), max_depth=3)) == [LISTED[0], ("a", "b", "d"), LISTED[3]]
        assert sorted(listed.list_namespaces(max_depth=1)) == [("a",), ("b",), ("users",)]

    def test_limit_and_offset_count_truncated_namespaces(self, listed: BaseStore) -> None:
        """Pages of truncated namespaces are full and do not repeat."""
        pages = [listed.list_namespaces(max_depth=2, limit=2, offset=offset) for offset in (0, 2, 4, 6)]
        assert [len(page) for page in pages] == [2, 2, 1, 0]
        assert len({namespace for page in pages for namespace in page}) == 5

    def test_only_puts_create_namespaces(self, store: BaseStore) -> None:
        """A get, a search or a delete in a missing namespace leaves the listing as it was."""
        store.get(("ghost",), "one")
        store.delete(("spirit",), "one")
        store.search(("phantom",))
        assert store.list_namespaces() == []

    def test_a_namespace_without_items_is_not_listed(self, store: BaseStore) -> None:
        """Deleting all items is the only way to delete a namespace."""
        put_into(store, [("a",), ("a", "b")])
        store.put(("a", "b"), "two", {})
        store.batch([PutOp(item.namespace, item.key, None) for item in store.search(("a", "b"))])
        assert store.list_namespaces() == [("a",)]
