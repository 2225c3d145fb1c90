"""Which texts mention a name, and which words a turn of a dialogue only quotes."""

import pytest

from neurogated import MemoryNode
from neurogated.ingestion.names import keywords_of_name
from tests.ingestion.text_edges import NOW, Bench


def test_the_keywords_of_a_name_are_those_of_each_way_to_write_it() -> None:
    assert keywords_of_name("lyon france") == [{"lyon", "franc"}]
    assert keywords_of_name("红 楼 梦") == [{"红楼", "楼梦"}]
    assert {"ender", "game"} in keywords_of_name("ender s game")
    assert {"o'brien"} in keywords_of_name("o brien")
    assert {"meet"} in keywords_of_name("we ll meet")


def test_a_text_leads_to_the_one_whose_title_it_names() -> None:
    bench = Bench()
    bench.add(("She lives in New York City.", None), ("A city of rivers.", "New York City"))
    assert bench.named() == {("None: She lives in New York City.", "New York City: A city of rivers."): 1.0}


@pytest.mark.parametrize("title_first", [True, False])
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("We read Dune together.", "Dune (novel)"),
        ("We read Dune together.", "DUNE"),
        ("He was born in Paris.", "Paris, Texas"),
        ("He sang in Zürich.", "Zurich"),
        ("我们读了《红楼梦》。", "红楼梦"),
        ("我们去了北京。", "北京（城市）"),  # noqa: RUF001
        ("苏州在江苏省。", "苏州，江苏"),
        ("他在看A股。", "A股"),
        ("我的家。", "家"),
        ("It is Ender's Game.", "Ender’s Game"),
        ("They met O’Brien.", "O'Brien"),
        ("She sang We'll Meet Again.", "We'll Meet Again"),
    ],
)
def test_a_name_is_found_without_its_qualifier_whichever_came_first(
    text: str, title: str, *, title_first: bool
) -> None:
    bench = Bench()
    for pair in [("Words.", title), (text, None)][:: 1 if title_first else -1]:
        bench.add(pair)
    assert bench.named() == {(f"None: {text}", f"{title}: Words."): 1.0}


@pytest.mark.parametrize("title_first", [True, False])
@pytest.mark.parametrize(("text", "title"), [("我的家很大。", "家"), ("They met O'Brien.", "Brien")])
def test_a_name_that_keywords_cannot_find_is_not_mentioned(text: str, title: str, *, title_first: bool) -> None:
    bench = Bench()
    for pair in [("Words.", title), (text, None)][:: 1 if title_first else -1]:
        bench.add(pair)
    assert bench.named() == {}


@pytest.mark.parametrize("title", ["It", "The", "What is it", "什么", "为什么", "", "!?", "a b c d e f g h i"])
def test_titles_that_name_nothing_are_never_mentioned(title: str) -> None:
    bench = Bench()
    bench.add((f"{title} is it, what? the 什么 为什么 a b c d e f g h i", None), ("Words.", title))
    assert bench.named() == {}


def test_a_text_does_not_mention_what_it_is_about() -> None:
    bench = Bench()
    bench.add(("Lyon has two rivers.", "Lyon"), ("Lyon has trains.", "Lyon"))
    assert bench.named() == {}


def turns(*said: str) -> list[MemoryNode]:
    """Return turns of a dialogue, each with the one before as its context."""
    return [
        MemoryNode(text, text, metadata={"speaker": "Ann", "date": "8 May", "context": [before]}, created_at=NOW)
        for before, text in zip(("", *said), said, strict=False)
    ]


@pytest.mark.parametrize("at_once", [True, False])
def test_words_that_a_turn_only_quotes_join_it_to_no_text(*, at_once: bool) -> None:
    bench = Bench(term_texts=2)
    said = turns("The heron stood.", "It flew.", "To the river?", "The heron.")
    for batch in [said] if at_once else [[turn] for turn in said]:
        bench.change(batch)
    assert bench.shared() == {frozenset(("The heron stood.", "The heron.")): 0.5}
    bench.change([], ["The heron stood."])
    bench.change(turns("The heron!"))
    assert bench.shared() == {frozenset(("The heron!", "The heron.")): 0.5}


def test_a_text_that_begins_to_quote_no_longer_joins_by_a_word_that_many_quote() -> None:
    bench = Bench(term_texts=2)
    pair = [MemoryNode(name, f"heron {name}", created_at=NOW) for name in ("a", "b")]
    bench.change(pair)
    assert len(bench.shared()) == 1
    quoting = [MemoryNode(f"q{n}", "", metadata={"context": ["heron"]}, created_at=NOW) for n in range(3)]
    bench.change(quoting[:2])
    assert len(bench.shared()) == 1
    bench.change(quoting[2:])
    assert bench.shared() == {}
    bench.change([], ["q0"])
    assert frozenset(("a", "b")) in bench.shared()
