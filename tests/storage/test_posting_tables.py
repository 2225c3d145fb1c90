"""Keywords and tags through merges, files and threads match a rebuilt index and a dictionary of sets."""

import json
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from neurogated import MemoryNode
from neurogated.core.rendering import keyword_text, tags
from neurogated.core.view import Rows
from neurogated.storage.index.graph_index import put_texts
from neurogated.storage.index.text import posting_table
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.index.text.segment import ForwardIndex, TextSegment
from neurogated.text.keywords import search_terms

WORDS = ["heron", "stone", "river", "lyon", "北京大学", "猫", "1970", "the"]
CONTENTS = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
EVERYTHING = np.arange(40)


@pytest.fixture(autouse=True, scope="module")
def tiny() -> Iterator[None]:
    """Merge segments often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(posting_table, "MEMTABLE_TEXTS", 3)
        yield


def node(content: str) -> MemoryNode:
    return MemoryNode("n", content, metadata={"title": content[:5]})


def rows(keys: object) -> Rows:
    return np.array(sorted(keys), dtype=np.int64)  # type: ignore[call-overload]


def put(index: LexicalStore, contents: dict[int, str]) -> None:
    put_texts(index, rows(contents), [node(contents[key]) for key in sorted(contents)])


def terms(content: str) -> frozenset[str]:
    one = node(content)
    return tags(one).union(search_terms(keyword_text(one)))


def assert_holds(index: LexicalStore, contents: dict[int, str], queries: list[str]) -> None:
    """Compare an index with a rebuilt one, and its terms with sets."""
    rebuilt = LexicalStore()
    put(rebuilt, contents)
    assert len(index) == len(contents)
    for query in queries:
        scores = index.scores(query, EVERYTHING)
        # Words may have other numbers, so sums differ in the last bit.
        assert scores == pytest.approx(rebuilt.scores(query, EVERYTHING), rel=1e-12, abs=0)
        for k in (1, 3, 100):
            keys, best = index.search(query, k)
            kth = sorted(scores[scores > 0], reverse=True)[:k][-1:] or [np.inf]
            assert set(keys.tolist()) == set(np.flatnonzero(scores >= kth[0]).tolist())
            assert best.tolist() == scores[keys].tolist()
    model = {key: terms(text) for key, text in contents.items()}
    every = sorted(frozenset[str]().union(*model.values()))
    for key in EVERYTHING.tolist():
        assert index.terms_of(key) == rebuilt.terms_of(key)
        assert index.terms_of(key).keys() == model.get(key, frozenset())
    assert index.existing([*every, "unknown"]) == set(every)
    for term in every:
        holders = [key for key, held in sorted(model.items()) if term in held]
        assert index.keys_with([term]).tolist() == holders
        assert np.flatnonzero(index.having([term], EVERYTHING)[0]).tolist() == holders
        assert (term in index.existing([term], rows(holders))) is False
        assert (term in index.existing([term], rows(holders[1:]))) is True


class TextsAsTheirModel(RuleBasedStateMachine):
    """Puts, removals, and files written, loaded and mapped."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.index, self.contents = LexicalStore(), dict[int, str]()
        self.kept: list[tuple[Path, dict[int, str]]] = []

    def teardown(self) -> None:
        self.index.wait()
        shutil.rmtree(self.folder)

    @rule(contents=st.dictionaries(st.integers(0, 30), CONTENTS, max_size=8))
    def put(self, contents: dict[int, str]) -> None:
        put(self.index, contents)
        self.contents.update(contents)

    @rule(keys=st.sets(st.integers(0, 35), max_size=12))
    def remove(self, keys: set[int]) -> None:
        self.index.remove(rows(keys))
        self.contents = {key: text for key, text in self.contents.items() if key not in keys}

    @rule(content=CONTENTS)
    def ask(self, content: str) -> None:
        assert_holds(self.index, self.contents, [content, "heron stone 猫"])

    @rule(between=st.dictionaries(st.integers(0, 30), CONTENTS, max_size=8), adopted=st.booleans())
    def freeze(self, between: dict[int, str], adopted: bool) -> None:  # noqa: FBT001 - drawn
        frozen, state = self.index.isolated(), dict(self.contents)
        # Changes between the freeze and the write are in the next state only.
        self.put(between)
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        frozen.write(folder, self.kept[-1][0] if self.kept else None)
        self.kept.append((folder, state))
        if adopted:
            self.index.remap(folder)

    @precondition(lambda self: bool(self.kept))
    @rule(remove_before=st.booleans())
    def load(self, remove_before: bool) -> None:  # noqa: FBT001 - drawn
        folder, self.contents = self.kept[-1][0], dict(self.kept[-1][1])
        self.index.wait()
        self.index = LexicalStore.load(folder)
        if remove_before:
            for before, _ in self.kept[:-1]:
                shutil.rmtree(before)
            self.kept = self.kept[-1:]


TextsAsTheirModel.TestCase.settings = settings(max_examples=10, stateful_step_count=12, deadline=None)
TestTextsAsTheirModel = TextsAsTheirModel.TestCase


def some(count: int) -> dict[int, str]:
    chance = np.random.default_rng(0)
    return {key: " ".join(chance.choice(WORDS, 6).tolist()) for key in range(count)}


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    index, contents = LexicalStore(), some(30)
    put(index, contents)
    index.isolated().write(tmp_path, None)
    words, state = (json.loads((tmp_path / name).read_text()) for name in ("words.json", "state.json"))
    others = {"words.json": json.dumps(words[:-1]), "state.json": json.dumps({**state, "format": state["format"] + 1})}
    for file in sorted(tmp_path.iterdir()):
        written = file.read_bytes()
        for content in (b"", written[:-1], others.get(file.name, "").encode()):
            file.write_bytes(content)
            with pytest.raises(ValueError):  # noqa: PT011 - numpy and json have words of their own
                LexicalStore.load(tmp_path)
        file.unlink()
        with pytest.raises(OSError, match=file.name):
            LexicalStore.load(tmp_path)
        file.write_bytes(written)
    assert_holds(LexicalStore.load(tmp_path), contents, ["heron stone"])


def test_a_long_merge_goes_on_beside_questions_and_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_table, "_SHORT_MERGE", 0)
    index, contents = LexicalStore(), some(39)
    answers: list[set[int]] = []

    def ask() -> None:
        while len(index) < len(contents):
            answers.append(set(index.keys_with(["heron"]).tolist()))

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for key, content in contents.items():
        put(index, {key: "stone"})
        put(index, {key: content})
    for thread in asking:
        thread.join()
    index.wait()
    true = {key for key, content in contents.items() if "heron" in content}
    assert all(answer <= true for answer in answers)
    assert_holds(index, contents, ["heron stone", "lyon"])


def test_texts_changed_or_removed_during_a_merge_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_table, "_SHORT_MERGE", 0)
    begun, changed, of = threading.Event(), threading.Event(), TextSegment.of

    def slow(texts: ForwardIndex, serial: int) -> TextSegment:
        if threading.current_thread().name == "neurogated-merging":
            begun.set()
            assert changed.wait(60)
        return of(texts, serial)

    monkeypatch.setattr(TextSegment, "of", slow)
    index, contents = LexicalStore(), some(9)
    put(index, {key: contents[key] for key in range(6)})
    put(index, {key: contents[key] for key in range(6, 9)})
    assert begun.wait(60)
    put(index, {0: "stone", 7: "heron lyon"})
    index.remove(rows({1, 8}))
    changed.set()
    index.wait()
    contents |= {0: "stone", 7: "heron lyon"}
    assert_holds(index, {key: text for key, text in contents.items() if key not in {1, 8}}, ["heron stone", "lyon"])


def test_a_merge_without_memory_leaves_everything_as_it_was_and_later_ones_go_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(posting_table, "_SHORT_MERGE", 0)

    def full(*_: object) -> None:
        raise MemoryError

    index, contents = LexicalStore(), some(39)
    with monkeypatch.context() as patch:
        patch.setattr(ForwardIndex, "joined", full)
        put(index, contents)
        for key in range(10, 20):
            put(index, {key: "stone heron"})
        index.wait()
    contents.update(dict.fromkeys(range(10, 20), "stone heron"))
    assert "segments failed" in caplog.text
    assert_holds(index, contents, ["heron stone"])
    unmerged = len(index.view.segments)
    put(index, {20: contents[20]})
    index.wait()
    assert len(index.view.segments) < unmerged
