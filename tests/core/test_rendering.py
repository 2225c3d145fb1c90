"""Texts that stand for a node, with metadata of every kind."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import Document, MemoryConfig, NeuroGraphMemory, Passage
from neurogated.core.keywords import fold, split_keywords
from neurogated.core.rendering import (
    TIME,
    document_tag,
    keyword_text,
    keywords_among,
    names_in,
    own_and_indexed_keywords,
    own_tag,
    quoted,
    quoted_tag,
    render,
    speaker_tag,
    subject_tag,
    subjects,
    subjects_among,
    tags,
    trait_tag,
)
from neurogated.core.words import split_words

HOSTILE: list[Any] = [
    5,
    0,
    -1,
    1e300,
    True,
    False,
    None,
    "",
    "x",
    [],
    [1],
    ["a", None],
    {},
    {"a": [1]},
    "（",  # noqa: RUF001
    "()",
    ",",
]
NAMES = ["title", "speaker", "context", "date", "timestamp", "times"]


@pytest.mark.parametrize(
    ("metadata", "rendered"),
    [
        ({}, "I moved to Lyon."),
        ({"title": "Session 1"}, "Session 1\nI moved to Lyon."),
        ({"speaker": "Ann"}, 'Ann said, "I moved to Lyon."'),
        ({"speaker": "Ann", "title": "Session 1"}, 'Session 1\nAnn said, "I moved to Lyon."'),
        ({"speaker": "", "title": ""}, "I moved to Lyon."),
        ({"speaker": None, "title": None}, "I moved to Lyon."),
        ({"document_id": "doc-1", "timestamp": "2026-01-01"}, "I moved to Lyon."),
    ],
)
def test_title_and_speaker_are_written_around_the_content(metadata: dict[str, object], rendered: str) -> None:
    assert render("I moved to Lyon.", metadata) == quoted("I moved to Lyon.", metadata) == rendered


def test_what_was_said_before_follows_what_is_embedded_but_is_not_quoted() -> None:
    metadata = {"speaker": "Bo", "context": ['Ann said, "Where?"', "earlier"]}
    assert render("Lyon.", metadata) == 'Bo said, "Lyon."\nAnn said, "Where?"\nearlier'
    assert quoted("Lyon.", metadata) == 'Bo said, "Lyon."'


@pytest.mark.parametrize(
    ("metadata", "first_line"),
    [
        ({"date": "8 May 2023"}, "8 May 2023"),
        ({"timestamp": 0}, "1 January 1970"),
        ({"timestamp": 1683547200.5}, "8 May 2023"),
        ({"timestamp": -86400}, "31 December 1969"),
        ({"timestamp": 0, "date": "long ago"}, "long ago"),
        ({"timestamp": 0, "date": None}, "1 January 1970"),
        ({"timestamp": True}, "Lyon."),
        ({"timestamp": "0"}, "Lyon."),
        ({"timestamp": 1e300}, "Lyon."),
        ({"timestamp": float("inf")}, "Lyon."),
        ({"timestamp": float("nan")}, "Lyon."),
        ({"date": ""}, "Lyon."),
    ],
)
def test_keywords_hold_the_date_as_it_is_written_or_that_of_the_timestamp(
    metadata: dict[str, object], first_line: str
) -> None:
    assert keyword_text("Lyon.", metadata).splitlines()[0] == first_line
    assert "1970" not in render("Lyon.", metadata)


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Dune", ("dune",)),
        ("Dune (1984 film)", ("dune 1984 film", "dune")),
        ("苏州（城市）", ("苏 州 城 市", "苏 州")),  # noqa: RUF001
        ("Paris, Texas", ("paris texas", "paris")),
        ("苏州，江苏", ("苏 州 江 苏", "苏 州")),
        ("Springfield, Ohio (town)", ("springfield ohio town", "springfield ohio", "springfield")),
        ("Café  MÜNCHEN", ("cafe munchen",)),
        ("It", ()),
        ("It (film)", ("it film",)),
        ("The Who, The", ()),
        ("为什么", ()),
        ("one two three four five six seven eight", ("one two three four five six seven eight",)),
        ("one two three four five six seven eight nine", ()),
        ("!?", ()),
        ("", ()),
        (None, ()),
        (5, ()),
        ([1], ()),
    ],
)
def test_a_node_is_about_its_title_with_and_without_what_qualifies_it(title: object, names: tuple[str, ...]) -> None:
    assert subjects({"title": title}) == names


def test_tags_are_subjects_speaker_time_document_quotations_and_those_of_the_owner() -> None:
    metadata = {"title": "Dune (novel)", "speaker": "Ann Lee", "times": ["today"], "document_id": "doc-1"}
    named = {subject_tag("dune novel"), subject_tag("dune"), speaker_tag("ann lee"), trait_tag(TIME)}
    openings = {"opens subject dune", "opens speaker ann"}
    quotations = set(map(quoted_tag, ("ann", "lee", "said", "heron")))
    expected = {*named, *openings, *quotations, document_tag("doc-1"), own_tag("mine")}
    assert tags("He walked the dune", {**metadata, "context": ["A heron walks."]}, ["mine"]) == expected
    assert tags("", {"times": [], "document_id": 5}) == tags("A heron.", {}) == frozenset()


@given(st.text(st.sampled_from("Aé b北.，"), max_size=30), st.text(st.sampled_from("Aé b北.，"), max_size=30))
def test_the_keywords_of_content_and_title_are_those_indexed_without_those_quoted(content: str, context: str) -> None:
    metadata = {"title": "Salt", "speaker": "Ann", "context": [context], "date": "8 May"}
    own, indexed = own_and_indexed_keywords(content, metadata)
    assert own == set(split_keywords(f"Salt\n{content}"))
    assert indexed == set(split_keywords(keyword_text(content, metadata)))
    assert keywords_among(tags(content, metadata) | indexed) == own
    assert all(" " in tag for tag in tags(content, metadata))


def test_subjects_are_told_apart_among_tags() -> None:
    assert subjects_among(tags("Salt.", {"title": "Dune (novel)", "speaker": "Dune"})) == {"dune novel", "dune"}


def test_a_name_that_reads_like_the_trait_of_a_time_is_told_apart() -> None:
    found = tags("time", {"title": "time", "speaker": "has time", "document_id": "time"}, ["has time"])
    assert trait_tag(TIME) not in found


@given(st.text(st.sampled_from("Aé b北.，"), max_size=30))
def test_every_title_that_is_a_name_is_found_in_a_text_that_holds_it(title: str) -> None:
    for name in subjects({"title": title}):
        existing = tags("", {"title": title})
        (found,) = names_in([split_words(fold(f"We saw {title} there"))], existing.intersection)
        assert subject_tag(name) in found


_NAMED = st.lists(st.sampled_from(["ann", "saw", "the", "苏"]), max_size=9)


@given(st.lists(_NAMED, max_size=3), _NAMED, _NAMED)
def test_the_names_in_texts_that_some_node_has_are_told(
    texts: list[list[str]], title: list[str], speaker: list[str]
) -> None:
    existing = tags("", {"title": " ".join(title), "speaker": " ".join(speaker)})
    expected = []
    for words in texts:
        runs = {" ".join(words[begin:end]) for begin in range(len(words)) for end in range(begin + 1, len(words) + 1)}
        expected.append(existing & {*map(subject_tag, runs), *map(speaker_tag, runs)})
    assert names_in(texts, existing.intersection) == expected
    about = [frozenset(tag for tag in found if tag.startswith("subject")) for found in expected]
    assert names_in(texts, existing.intersection, speakers=False) == about


@pytest.mark.parametrize("title", [" " * 100_000 + "x", "(" * 100_000, "(a) " * 30_000 + "x", "," * 100_000])
def test_a_monstrous_title_is_read_in_linear_time(title: str) -> None:
    # Quadratic time would be hours here; the test needs no clock.
    assert len(subjects({"title": title})) <= 2


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(HOSTILE)))
def test_metadata_of_any_kind_can_be_rendered(metadata: dict[str, object]) -> None:
    for text in (quoted("Lyon.", metadata), render("Lyon.", metadata), keyword_text("Lyon.", metadata)):
        assert "Lyon." in text
    assert all(isinstance(tag, str) for tag in tags("Lyon.", metadata))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_metadata_of_any_kind_is_stored_and_recalled(name: str, value: object) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        passages = (Passage("The heron stood still.", {name: value}), Passage("It flew away.", {"speaker": "Ann"}))
        memory.add_documents([Document(passages)], progress=False)
        recall = memory.recall("When did the heron fly?", top_n=2)
        assert {memory.content for memory in recall} == {"The heron stood still.", "It flew away."}


def _dialogue(turns: int) -> list[dict[str, object]]:
    """Return the metadata of two dialogues and a text, each turn a sentence, in order."""
    spoken = [Passage(f"Turn {n}.", {"speaker": "AnnBo"[3 * (n % 2) :][:3]}) for n in range(4)]
    other = (Passage("Hello.", {"speaker": "Cy"}), Passage("The sun set."), Passage("Bye.", {"speaker": "Cy"}))
    documents = [Document(tuple(spoken), "Talk"), Document(other), Document((Passage("One."), Passage("Two.")))]
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash", CONTEXT_TURNS=turns)) as memory:
        memory.add_documents(documents, progress=False)
        return [dict(node.metadata) for node in memory.store.all_nodes()]


@pytest.mark.parametrize(
    ("turns", "contexts"),
    [
        (0, [None] * 9),
        (1, [None, [0], [1], [2], None, None, ["The sun set."], None, None]),
        (2, [None, [0], [1, 0], [2, 1], None, None, ["The sun set.", 'Cy said, "Hello."'], None, None]),
    ],
)
def test_a_turn_knows_the_turns_before_it_in_its_own_dialogue_the_last_first(
    turns: int, contexts: list[list[int | str] | None]
) -> None:
    said = [f'Talk\n{"AnnBo"[3 * (n % 2) :][:3]} said, "Turn {n}."' for n in range(4)]
    expected = [c and [said[turn] if isinstance(turn, int) else turn for turn in c] for c in contexts]
    assert [metadata.get("context") for metadata in _dialogue(turns)] == expected


def test_a_turn_is_found_by_what_it_answers() -> None:
    turns = (Passage("Where did the heron nest?", {"speaker": "Ann"}), Passage("By the mill.", {"speaker": "Bo"}))
    for number, found in ((1, {"Where did the heron nest?", "By the mill."}), (0, {"Where did the heron nest?"})):
        config = MemoryConfig(storage="memory", embedding_name="hash", CONTEXT_TURNS=number)
        with NeuroGraphMemory(config) as memory:
            memory.add_documents([Document(turns)], progress=False)
            recall = memory.recall("heron nest")
            assert {one.content for one in recall if one.parts["keywords"] > 0} == found
            assert ("context" in memory.recall("By the mill.", top_n=1)[0].metadata) == bool(number)
