"""Vector search: index configurations and queries."""

import asyncio
import time
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, PutOp, SearchItem

from langgraph_store_kit.base import DOCS, NewStore, StoreContractBase, fill, found, index_of, keys
from langgraph_store_kit.words import embed_words

FRUIT, CAR, SEA = "red apples and green pears", "a fast car with a loud engine", "the waves of the cold sea"
QUERY = "green pears"


PATHS: dict[str, dict[str, Any]] = {
    "a.b.c": {"a": {"b": {"c": QUERY}}},
    "list[0].text": {"list": [{"text": QUERY}, {"text": SEA}]},
    "list[-1].text": {"list": [{"text": SEA}, {"text": QUERY}]},
    "list[*].text": {"list": [{"text": SEA}, {"text": QUERY}, {"text": CAR}]},
    "tags[*]": {"tags": [SEA, QUERY]},
    "a[*].b[*].c": {"a": [{"b": [{"c": SEA}]}, {"b": [{"c": CAR}, {"c": QUERY}]}]},
}


def first(store: BaseStore, query: str) -> str:
    """Return the key of the best result."""
    return store.search(DOCS, query=query)[0].key


async def embed_later(texts: list[str]) -> list[list[float]]:
    """Embed texts in a coroutine."""
    await asyncio.sleep(0)
    return embed_words(texts)


class TwoSided(Embeddings):
    """Embeds queries in another way than documents: a query means its opposite."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts as they are."""
        return embed_words(texts)

    def embed_query(self, text: str) -> list[float]:
        """Embed the opposite of a text."""
        return embed_words([CAR if text == FRUIT else FRUIT])[0]


class Failing:
    """An embedder that fails if it is told to."""

    broken = False

    def __call__(self, texts: list[str]) -> list[list[float]]:
        """Embed texts or raise `ConnectionError`."""
        if self.broken:
            raise ConnectionError("the embedder is down")
        return embed_words(texts)


class QueryContract(StoreContractBase):
    """Searches with a query."""

    @pytest.fixture
    def three(self, indexed: BaseStore) -> BaseStore:
        """Return a store with three different texts."""
        fill(indexed, {"fruit": {"text": FRUIT}, "car": {"text": CAR}, "sea": {"text": SEA}})
        return indexed

    def test_the_most_similar_item_comes_first(self, three: BaseStore) -> None:
        """Results are in the order of falling scores."""
        results = three.search(DOCS, query=QUERY)
        assert results[0].key == "fruit"
        scores = [item.score for item in results if item.score is not None]
        assert scores
        assert scores == sorted(scores, reverse=True)

    def test_an_empty_query_is_no_query(self, three: BaseStore) -> None:
        """A search for an empty text returns what a search without a query returns."""
        assert found(three, query="") == found(three) == ["car", "fruit", "sea"]

    def test_a_query_stays_within_the_prefix(self, three: BaseStore) -> None:
        """A better match in another namespace is not found."""
        fill(three, {"copy": {"text": FRUIT}}, ("docs2",))
        fill(three, {"below": {"text": FRUIT}}, ("docs", "a"))
        assert found(three, query=QUERY) == ["below", "car", "fruit", "sea"]
        assert keys(three.search(("docs", "a"), query=QUERY)) == ["below"]

    def test_a_query_and_a_filter_both_hold(self, three: BaseStore) -> None:
        """Of many similar items, only those that match the filter are found, and all of them."""
        fill(three, {f"{number:02}": {"text": FRUIT, "n": number} for number in range(40)})
        fill(three, {"far": {"text": SEA, "n": 99}})
        assert keys(three.search(DOCS, query=QUERY, filter={"n": 99})) == ["far"]
        assert len(three.search(DOCS, query=QUERY, filter={"n": {"$ne": 99}}, limit=30)) == 30

    def test_items_without_a_vector_follow_the_others(self, three: BaseStore) -> None:
        """An item that is not indexed is documented as accessible through `search()`."""
        fill(three, {"plain": {"text": FRUIT}}, index=False)
        results = keys(three.search(DOCS, query=QUERY))
        assert results[0] == "fruit"
        assert sorted(results) == ["car", "fruit", "plain", "sea"]
        assert found(three) == sorted(results)

    def test_pages_of_a_query_are_complete(self, three: BaseStore) -> None:
        """All pages together have each item once, also those without a vector."""
        fill(three, {f"{number}": {"text": FRUIT} for number in range(4)})
        fill(three, {f"plain{number}": {"text": FRUIT} for number in range(3)}, index=False)
        pages = [keys(three.search(DOCS, query=QUERY, limit=4, offset=offset)) for offset in (0, 4, 8, 12)]
        assert [len(page) for page in pages] == [4, 4, 2, 0]
        assert sorted(key for page in pages for key in page) == found(three)

    def test_equal_texts_are_several_items(self, three: BaseStore) -> None:
        """Two keys with the same text are two results."""
        fill(three, {"again": {"text": FRUIT}})
        assert sorted(keys(three.search(DOCS, query=QUERY, limit=2))) == ["again", "fruit"]

    def test_one_batch_may_repeat_a_text(self, indexed: BaseStore) -> None:
        """Items of one batch with the same text are all indexed."""
        fill(indexed, {"a": {"text": FRUIT}, "b": {"text": FRUIT}, "c": {"text": CAR}})
        assert sorted(keys(indexed.search(DOCS, query=QUERY, limit=2))) == ["a", "b"]

    def test_a_new_text_replaces_the_old_vector(self, three: BaseStore) -> None:
        """An overwritten item is found by its new text and not by its old one."""
        three.put(DOCS, "fruit", {"text": SEA + " at night"})
        three.put(DOCS, "pears", {"text": "pears"})
        assert first(three, QUERY) == "pears"
        assert "fruit" in keys(three.search(DOCS, query=SEA + " at night", limit=1))

    def test_an_item_that_is_no_longer_indexed_loses_its_vector(self, three: BaseStore) -> None:
        """After a put with `index=False`, the old text does not rank the item."""
        three.put(DOCS, "fruit", {"text": "something else"}, index=False)
        three.put(DOCS, "pears", {"text": "pears"})
        assert first(three, QUERY) == "pears"
        assert keys(three.search(DOCS, query=FRUIT, limit=4))[-1] == "fruit"

    def test_a_deleted_item_is_not_found_by_a_query(self, three: BaseStore) -> None:
        """Deleting an item deletes its vectors; putting it again without an index does not restore them."""
        three.delete(DOCS, "fruit")
        assert found(three, query=QUERY) == ["car", "sea"]
        three.put(DOCS, "fruit", {"text": "new"}, index=False)
        assert first(three, QUERY) != "fruit"

    def test_a_failing_embedder_leaves_the_store_as_it_was(self, opened: NewStore) -> None:
        """If embedding raises, the put raises and the item is as before."""
        self.require("vectors", "vector search")
        embed = Failing()
        store = opened(index=index_of(embed=embed))
        store.put(DOCS, "one", {"text": FRUIT})
        embed.broken = True
        with pytest.raises(ConnectionError):
            fill(store, {"one": {"text": CAR}, "two": {"text": SEA}})
        embed.broken = False
        assert [item.value for item in store.search(DOCS)] == [{"text": FRUIT}]
        assert first(store, QUERY) == "one"


class IndexContract(StoreContractBase):
    """Which parts of a value are indexed."""

    @pytest.fixture
    def by_text(self, opened: NewStore) -> BaseStore:
        """Return a store that indexes the field `text`."""
        self.require("vectors", "vector search")
        return opened(index=index_of("text"))

    def by_parts(self, opened: NewStore) -> BaseStore:
        """Return a store that indexes each element of `parts`."""
        self.require("vectors", "vector search")
        return opened(index=index_of("parts[*]"))

    def test_only_configured_fields_are_indexed(self, by_text: BaseStore) -> None:
        """Text in other fields does not rank an item."""
        fill(by_text, {"right": {"text": QUERY, "note": CAR}, "wrong": {"text": CAR, "note": QUERY}})
        assert first(by_text, QUERY) == "right"
        assert first(by_text, CAR) == "wrong"

    def test_an_item_may_name_its_own_fields(self, by_text: BaseStore) -> None:
        """`index` of a put replaces the configured fields."""
        by_text.put(DOCS, "own", {"text": CAR, "note": QUERY}, index=["note"])
        by_text.put(DOCS, "usual", {"text": "green", "note": CAR})
        assert first(by_text, QUERY) == "own"
        assert first(by_text, "a green car") == "usual"

    def test_a_put_without_fields_returns_to_the_configured_ones(self, by_text: BaseStore) -> None:
        """The fields of an earlier put leave no vectors."""
        by_text.put(DOCS, "own", {"text": SEA, "note": QUERY}, index=["note"])
        by_text.put(DOCS, "own", {"text": SEA, "note": QUERY})
        by_text.put(DOCS, "pears", {"text": "pears"})
        assert first(by_text, QUERY) == "pears"

    def test_documented_paths_are_indexed(self, by_text: BaseStore) -> None:
        """Paths may name nested fields, one element of a list, or all."""
        by_text.put(DOCS, "wrong", {"text": "green " + SEA})
        for path, value in PATHS.items():
            by_text.put(DOCS, path, value, index=[path])
            assert first(by_text, QUERY) == path
            by_text.delete(DOCS, path)

    def test_elements_of_a_list_are_indexed_separately(self, opened: NewStore) -> None:
        """A list with one similar element beats a text that is half similar."""
        store = self.by_parts(opened)
        fill(store, {"one": {"parts": [SEA, CAR, QUERY]}, "half": {"parts": ["green cars"]}})
        assert first(store, QUERY) == "one"

    def test_removed_elements_leave_no_vectors(self, opened: NewStore) -> None:
        """A shorter list is not found by the elements that it had."""
        store = self.by_parts(opened)
        store.put(DOCS, "list", {"parts": [SEA, CAR, QUERY]})
        store.put(DOCS, "list", {"parts": [SEA]})
        store.put(DOCS, "pears", {"parts": ["pears"]})
        assert first(store, QUERY) == "pears"

    def test_an_item_with_many_vectors_is_one_result(self, opened: NewStore) -> None:
        """A limit counts items, not vectors."""
        store = self.by_parts(opened)
        fill(store, {f"{number}": {"parts": [f"{QUERY} {number} {part}" for part in range(30)]} for number in range(5)})
        assert found(store, query=QUERY, limit=5) == ["0", "1", "2", "3", "4"]

    def test_embeddings_of_langchain_are_accepted(self, opened: NewStore) -> None:
        """An `Embeddings` object embeds queries by its own method."""
        self.require("vectors", "vector search")
        store = opened(index=index_of(embed=TwoSided()))
        fill(store, {"fruit": {"text": FRUIT}, "car": {"text": CAR}})
        assert [first(store, FRUIT), first(store, CAR)] == ["car", "fruit"]

    def test_asynchronous_embedders_are_accepted(self, opened: NewStore) -> None:
        """`embed` may be a coroutine function; the asynchronous calls await it."""
        self.require("vectors", "vector search")
        self.require("asynchronous", "the asynchronous interface")
        store = opened(index=index_of(embed=embed_later))

        async def calls() -> list[SearchItem]:
            await store.abatch([PutOp(DOCS, "fruit", {"text": FRUIT}), PutOp(DOCS, "car", {"text": CAR})])
            return await store.asearch(DOCS, query=QUERY)

        assert keys(self.run(calls()))[0] == "fruit"

    def test_embedding_does_not_block_the_event_loop(self, opened: NewStore) -> None:
        """While a function embeds a query, other coroutines run."""
        self.require("vectors", "vector search")
        self.require("asynchronous", "the asynchronous interface")

        def embed(texts: list[str]) -> list[list[float]]:
            time.sleep(0.4 if QUERY in texts else 0.0)
            return embed_words(texts)

        store = opened(index=index_of(embed=embed))
        self.run(store.aput(DOCS, "fruit", {"text": FRUIT}))

        async def ticks() -> int:
            search = asyncio.ensure_future(store.asearch(DOCS, query=QUERY))
            count = 0
            while not search.done():
                await asyncio.sleep(0.01)
                count += 1
            return count

        assert self.run(ticks()) > 5
