"""The confidence of a recall tells questions that its memories answer from others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval.confidence import EMBEDDER, Evidence, confidence

_SAID = [
    "My dog is called Biscuit and he is scared of the stairs.",
    "My boss Willem wants the berth planning report by the 14th.",
    "I started pottery on Tuesday evenings, the teacher is called Femke.",
    "The rent goes up to 1,340 euros from January.",
    "Bought tickets for the concert on 3 May in Amsterdam.",
    "I can't stand coriander, it tastes like soap to me.",
]
_shares = st.floats(0, 1)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path_factory.mktemp("memory")))) as memory:
        for text in _SAID:
            memory.add({"role": "user", "content": text}, user_id="ines")
        memory.freeze()
        yield memory


def test_questions_that_were_answered_have_more_confidence(memory: NeuroGraphMemory) -> None:
    said = ["What is my dog called?", "When is the planning report due?", "How much is the rent from January?"]
    never = ["What is my mother's name?", "Which bank do I use?", "Where did I go to university?"]
    sure = [[memory.recall(one, user_id="ines").confidence for one in group] for group in (said, never)]
    assert min(sure[0]) > max(sure[1])
    assert all(0 < one < 1 for group in sure for one in group)


def test_below_the_minimum_confidence_nothing_is_recalled_or_used(memory: NeuroGraphMemory) -> None:
    question = "What is my mother's name?"
    usual = memory.recall(question, user_id="ines")
    unsure = memory.recall(question, user_id="ines", min_confidence=0.9)
    assert usual.memories
    assert unsure.confidence == usual.confidence < 0.9
    assert (unsure.ids, dict(unsure.access.nodes), unsure.as_text()) == ((), {}, "")
    assert any("confidence" in note for note in unsure.notes)
    context = memory.get_context(question, user_id="ines", min_confidence=0.9, min_score=-1.0)
    assert (context.text, context.memories, context.confidence) == ("", (), unsure.confidence)
    assert any("confidence" in note for note in context.notes)
    sure = memory.recall("What is my dog called?", user_id="ines", min_confidence=0.5)
    assert sure[0].content == _SAID[0]


@given(st.tuples(_shares, _shares, _shares, _shares), st.integers(0, 3), _shares, st.sampled_from([EMBEDDER, "other"]))
def test_more_evidence_never_lowers_the_confidence(
    values: tuple[float, ...], place: int, gain: float, embedder: str
) -> None:
    more = list(values)
    more[place] += gain
    low, high = (confidence(Evidence(*each), embedder) for each in (values, more))
    assert 0 <= low <= high <= 1


def test_one_memory_of_another_thing_gives_little_confidence(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path))) as memory:
        memory.add({"role": "user", "content": "The boiler man is coming Thursday."})
        other, same = (
            memory.recall(one).confidence for one in ("What is my blood type?", "When comes the boiler man?")
        )
    assert other < 0.5 < same
    assert np.isfinite(other)
