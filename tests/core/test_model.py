"""Nodes, edges, kernels and scopes as values, the findings and texts of a node, and the traits of turns."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import EdgeType, Kernel, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory, field
from neurogated.config.groups import IndexingSettings
from neurogated.core.clock import from_micros, to_micros, utc_now
from neurogated.core.equal_text import are_equal, equal_key
from neurogated.core.found import Found
from neurogated.core.rendering import PLACE, SPEAKER, SUBJECT, names_in, render, subjects, tags
from neurogated.core.scope import ANY_USER, Scope, ScopeFilter
from neurogated.core.turns import LENGTH_TAGS, PLACE_TAGS, called, same_speaker, turn_tags
from neurogated.errors import ConfigError, InputError
from neurogated.text.keywords import fold, split_words
from tests.golden import rows

# Nodes, edges and their types as values


def test_embeddings_compare_by_value_and_cannot_be_changed() -> None:
    moment = utc_now()
    one, two = (
        MemoryNode(id="a", content="x", embedding=vector, last_accessed=moment, created_at=moment)
        for vector in ([0.1, 0.2], np.array([0.1, 0.2], dtype=np.float32))
    )
    assert one == two
    assert hash(one) == hash(two)
    assert one != replace(one, embedding=[0.1, 0.3])
    assert one != replace(one, embedding=None)
    assert one != "a"
    with pytest.raises(ValueError, match="read-only"):
        one.embedding[0] = 5.0  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"id": ""}, "id is empty"),
        ({"embedding": [1.0, float("nan")]}, "nan at position 1"),
        ({"embedding": [float("inf")]}, "inf at position 0"),
        ({"embedding": []}, "non-empty"),
        ({"embedding": [[1.0]]}, "shape"),
        ({"base_energy": 1.5}, "base_energy of node 'a' is 1.5"),
        ({"base_energy": float("nan")}, "between 0 and 1"),
        ({"metadata": {"when": datetime(2026, 1, 1, tzinfo=UTC)}}, "not JSON"),
        ({"metadata": {"x": float("nan")}}, "not JSON"),
        ({"content": "lone \ud800"}, "lone surrogate at character 5"),
    ],
)
def test_a_value_that_cannot_be_stored_is_refused_with_the_reason(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MemoryNode(**{"id": "a", "content": "x", **arguments})  # type: ignore[arg-type]


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_hold_every_moment(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


@pytest.mark.parametrize("weight", [-0.1, 1.01, float("nan")])
def test_an_edge_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError):
        MemoryEdge("a", "b", EdgeType.SEQ, weight)


# Kernels: a weight for each direction, interpolation, and the text format


weights = st.floats(0, 2)
kinds = st.sampled_from(list(EdgeType))
shares = st.dictionaries(st.sampled_from(["time", "place"]), st.floats(0, 1))
kernels = st.builds(Kernel, st.dictionaries(kinds, weights), st.just("drawn"), st.dictionaries(kinds, weights), shares)


@given(kernels, kernels, st.floats(0, 1))
def test_a_kernel_on_the_way_lies_between_both_in_everything(start: Kernel, end: Kernel, share: float) -> None:
    middle = start.towards(end, share, "between")
    assert middle.justification == "between"
    for kind in EdgeType:
        for low, value, high in (
            (start[kind], middle[kind], end[kind]),
            (start.backwards(kind), middle.backwards(kind), end.backwards(kind)),
        ):
            assert value == pytest.approx(low + share * (high - low))
    for tag in {*start.tags, *end.tags}:
        low, high = start.share(tag), end.share(tag)
        assert middle.tags[tag] == pytest.approx(low + share * (high - low))


@given(kernels)
def test_a_kernel_that_is_written_is_read_as_it_was(kernel: Kernel) -> None:
    types = {*kernel.weights, *kernel.against}
    entries = [f"{kind.name}={kernel[kind]!r}/{kernel.backwards(kind)!r}" for kind in types]
    entries += [f"@{tag}={share!r}" for tag, share in kernel.tags.items()]
    read = Kernel.parse(" , ".join(entries), "read")
    assert read.tags == kernel.tags
    for kind in EdgeType:
        assert (read[kind], read.backwards(kind)) == (kernel[kind], kernel.backwards(kind))


@pytest.mark.parametrize(
    "text", ["SEQ", "SEQ=", "SEQ=high", "SEQ=1/", "SEQ=1/2/3", "@time", "@time=1/2", "@time=", "=1"]
)
def test_an_invalid_kernel_is_refused_and_quoted(text: str) -> None:
    with pytest.raises((InputError, ConfigError), match=r"kernel|edge type"):
        Kernel.parse(f"SIM=1.0, {text}", "wrong")


@given(kernels)
def test_a_kernel_can_be_copied_and_stored_but_not_changed(kernel: Kernel) -> None:
    stored = pickle.loads(pickle.dumps(kernel))  # noqa: S301 - our own bytes
    copies = stored, copy.deepcopy(kernel), Kernel(**dataclasses.asdict(kernel))
    for one in copies:
        assert one == kernel
        assert [one.weights[name] for name in EdgeType.__members__] == [one[kind] for kind in EdgeType]  # type: ignore[index]
        for values in (one.weights, one.against, one.tags):
            assert isinstance(values, dict)
            for change in (values.clear, values.popitem, lambda values=values: values.update(SEQ=1.0)):
                with pytest.raises(TypeError, match="read-only"):
                    change()
    assert copies == (kernel,) * 3


TEXT = "# The Lyon pump\n\nOn Monday Zoë Moor broke the pump of Lyon. " + "It was a long day for all. " * 30
GIVEN: dict[str, Any] = {
    "entities": ["mine"],
    "times": "mine",
    "document_id": 5,
    "found_names": None,
    "part": [3, 3],
    "timestamp": 12.5,
    "location": "Lyon",
    "sentiment": 0.5,
}


@pytest.mark.parametrize("given", [{}, GIVEN])
@pytest.mark.parametrize("about", [{}, {"session_id": "s"}, {"id": "own"}])
def test_metadata_is_the_callers_own(tmp_path: Any, given: dict[str, Any], about: dict[str, Any]) -> None:  # noqa: ANN401
    config = MemoryConfig(save_dir=tmp_path, embedding_name="hash", indexing=IndexingSettings(chunk_size=60))
    with NeuroGraphMemory(config) as memory:
        ids = memory.add(TEXT, metadata=given, **about)
        assert len(ids) > 1
        memory.add("A heron stood by the mill.")
    with NeuroGraphMemory(config) as memory:
        assert [dict(memory.get(node_id).metadata) for node_id in ids] == [given] * len(ids)
        first, second = memory.get(ids[0]).found, memory.get(ids[1]).found
        assert "Zoë Moor" in first.entities
        assert first.times == ("On Monday",)
        assert (first.document_id is None) == bool(about)
        assert (second.part is not None) == (about == {"session_id": "s"})
        new = memory.update(ids[0], "Nobody came.")
        assert new.metadata == given
        assert (new.found.entities, new.found.times, new.found.names) == ((), (), ())
        assert new.found.document_id == first.document_id
        memory.undo()
        assert memory.get(ids[0]).found == first
        if given:
            assert memory.list(where=field("location") == "Lyon")
        assert not memory.list(where=field("entities").exists() & ~(field("sentiment") == 0.5))


def a_node(content: str = "", **fields: Any) -> MemoryNode:  # noqa: ANN401
    return MemoryNode("n", content, **fields)


@pytest.mark.parametrize(
    ("fields", "rendered"),
    [
        ({}, "I moved to Lyon."),
        ({"title": "Session 1"}, "Session 1\nI moved to Lyon."),
        ({"speaker": "Ann"}, 'Ann said, "I moved to Lyon."'),
        ({"speaker": "Ann", "title": "Session 1"}, 'Session 1\nAnn said, "I moved to Lyon."'),
        ({"role": "user", "timestamp": from_micros(0)}, "I moved to Lyon."),
        ({"metadata": {"title": "Session 1", "speaker": "Ann", "context": ["Where?"]}}, "I moved to Lyon."),
    ],
)
def test_title_and_speaker_are_written_around_the_content(fields: dict[str, Any], rendered: str) -> None:
    assert render(a_node("I moved to Lyon.", **fields)) == rendered


@pytest.mark.parametrize(("title", "names"), rows(__file__, "subjects"))
def test_a_node_is_about_its_title_with_and_without_its_qualifier(title: str | None, names: list[str]) -> None:
    assert subjects(title) == tuple(names)


@given(st.text(st.sampled_from("Aé b北.，"), max_size=30))
def test_every_title_that_is_a_name_is_found_in_a_text_that_holds_it(title: str) -> None:
    for name in subjects(title):
        existing = tags(a_node(title=title or None))
        (found,) = names_in([split_words(fold(f"We saw {title} there"))], existing.intersection)
        assert SUBJECT + name in found


_NAMED = st.lists(st.sampled_from(["ann", "saw", "the", "苏"]), max_size=9)


@given(st.lists(_NAMED, max_size=3), _NAMED, _NAMED, _NAMED)
def test_the_names_in_texts_that_some_node_has_are_told(
    texts: list[list[str]], title: list[str], speaker: list[str], place: list[str]
) -> None:
    found = Found(place=" ".join(place) or None)
    existing = tags(a_node(title=" ".join(title) or None, speaker=" ".join(speaker) or None, found=found))
    expected = []
    for words in texts:
        runs = {" ".join(words[begin:end]) for begin in range(len(words)) for end in range(begin + 1, len(words) + 1)}
        expected.append(existing & {kind + run for kind in (SUBJECT, SPEAKER, PLACE) for run in runs})
    for wanted, told in zip(expected, names_in(texts, existing.intersection), strict=True):
        first_names = told - wanted
        assert all(tag.startswith("opens speaker ") for tag in first_names)
        assert wanted - told == {tag.removeprefix("opens ") for tag in first_names} & wanted
    about = [frozenset(tag for tag in found if tag.startswith("subject")) for found in expected]
    assert names_in(texts, existing.intersection, subjects_only=True) == about


def said(role: str | None = "user", speaker: str | None = None, user: str | None = "u", **scope: str) -> MemoryNode:
    return MemoryNode("a", "Hello.", role=role, speaker=speaker, scope=Scope(user, **scope))


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        (said(), said(speaker="Sam"), True),
        (said(role=None), said(speaker="Sam"), True),
        (said(role=None), said(session_id="s"), True),
        (said(agent_id="a"), said(speaker="Sam", agent_id="b"), True),
        (said(speaker="Sam"), said(speaker="Sam Vries"), True),
        (said(speaker="SAM"), said(speaker="sam vries", session_id="s"), True),
        (said("assistant"), said("assistant", "Robo"), True),
        (said(speaker="Ann", user=None, session_id="s"), said(speaker="Ann", user=None, session_id="t"), True),
        (said(), said("assistant"), False),
        (said("tool"), said(), False),
        (said("system"), said(role=None), False),
        (said(speaker="Sam"), said(speaker="Ann"), False),
        (said(speaker="Sam"), said(speaker="Samantha"), False),
        (said(speaker="Sam Vries"), said(speaker="Sam Berg"), False),
        (said(speaker="Sam"), said("assistant", "Sam"), False),
        (said(speaker="Sam"), said(speaker="Sam", user="v"), False),
        (said(user=None, session_id="s"), said(user=None, session_id="t"), False),
    ],
)
def test_one_person_is_one_speaker_and_others_are_others(one: MemoryNode, other: MemoryNode, *, is_one: bool) -> None:
    # That the order makes no difference is a property below.
    assert same_speaker(one, other) is is_one


speakers = st.sampled_from([None, "Sam", "Sam Vries", "Ann", "李", "!"])
nodes = st.builds(said, st.sampled_from([None, "user", "assistant"]), speakers, st.sampled_from([None, "u"]))


@given(nodes, nodes, st.sets(speakers.filter(bool)))
def test_it_is_symmetric_and_everybody_is_the_same_as_oneself(
    one: MemoryNode, other: MemoryNode, names: set[str]
) -> None:
    assert same_speaker(one, other, names) == same_speaker(other, one, names)
    assert same_speaker(one, one, names)


NAMES = st.none() | st.sampled_from("ab")
PATHS = st.lists(st.sampled_from("xy"), max_size=2).map(tuple)


@settings(max_examples=400)
@given(
    st.builds(Scope, NAMES, NAMES, NAMES, PATHS),
    st.builds(ScopeFilter, NAMES | st.just(ANY_USER), NAMES, NAMES, PATHS, st.booleans(), st.booleans()),
)
def test_a_filter_admits_the_owners_that_it_names_and_those_of_nobody_unless_it_excludes_them(
    scope: Scope, wanted: ScopeFilter
) -> None:
    user = {wanted.user_id, None} if not wanted.alone else {wanted.user_id}
    agent = {wanted.agent_id, None} if not wanted.alone else {wanted.agent_id}
    session = {wanted.session_id, None} if not (wanted.alone or wanted.own_session) else {wanted.session_id}
    assert wanted.admits(scope) == (
        (wanted.user_id is ANY_USER or scope.user_id in user)
        and (wanted.agent_id is None or scope.agent_id in agent)
        and (wanted.session_id is None or scope.session_id in session)
        and tuple(scope.path)[: len(wanted.path)] == tuple(wanted.path)
    )


# The traits that are read from a turn of a conversation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, Ann!", {"ann"}),
        ("Hey Ann! How are you?", {"ann"}),
        ("Ann, that was kind.", {"ann"}),
        ("That was kind, Ann", {"ann"}),
        ("Wow! Ann, I met Bo.", {"ann"}),
        ("I met Ann yesterday.", set()),
        ("Thanks, Zoë!", {"zoe"}),
        ("Thanks, Oslo!", set()),
    ],
)
def test_a_name_that_is_set_off_calls_somebody(text: str, expected: set[str]) -> None:
    assert called(text, ["Ann", "Bo", "Zoë", "Ann Li"]) == expected


@pytest.mark.parametrize(
    ("place", "words", "expected"),
    [
        (0, 10, set()),
        (0, 95, set()),
        (0, 96, {LENGTH_TAGS[0]}),
        (0, 191, {LENGTH_TAGS[0]}),
        (0, 192, {LENGTH_TAGS[1]}),
        (1, 1000, {LENGTH_TAGS[2], PLACE_TAGS[0]}),
        (2, 2000, {LENGTH_TAGS[0], LENGTH_TAGS[2], PLACE_TAGS[0]}),
        (3, 1000, {LENGTH_TAGS[2], PLACE_TAGS[1]}),
        (1000, 10**9, {*LENGTH_TAGS, *PLACE_TAGS}),
    ],
)
def test_a_piece_tells_its_place_and_the_length_of_its_message(place: int, words: int, expected: set[str]) -> None:
    assert set(turn_tags(MemoryNode("n", "Text.", position=0, found=Found(part=(place, words))))) == expected


# When two texts are the same text: courtesies, marks, contractions and free order make no difference


@pytest.mark.parametrize(("one", "other"), rows(__file__, "different"))
def test_near_misses_differ(one: str, other: str) -> None:
    assert not are_equal([one, other])


@given(st.text(max_size=80))
def test_any_text_is_equal_to_itself_and_has_a_key(text: str) -> None:
    assert are_equal([text, text])
    assert bool(equal_key(text)) == bool(text.strip())
