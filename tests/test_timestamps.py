"""Timestamps given as texts in ISO format."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError


@pytest.mark.parametrize(
    ("seconds", "moment"),
    [
        (1_700_000_000.5, datetime(2023, 11, 14, 22, 13, 20, 500000, tzinfo=UTC)),
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (-1.0, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_timestamp_may_be_seconds_since_1970(memory: NeuroGraphMemory, seconds: float, moment: datetime) -> None:
    ids = memory.add({"role": "user", "content": "I moved.", "timestamp": seconds}, session_id="s")
    ids += memory.add("I moved back.", timestamp=seconds)
    ids += [memory.facts.add("Ana", "city", "Lyon", timestamp=seconds)]
    ids += memory.record_event("I moved again.", timestamp=seconds)
    assert [memory.get(node_id).timestamp for node_id in ids] == [moment] * len(ids)


def test_a_number_names_a_change_and_no_time_where_a_past_is_asked_for(memory: NeuroGraphMemory) -> None:
    memory.add("I moved.")
    with pytest.raises(InputError, match="as_of"):
        memory.recall("Who moved?", as_of=1_700_000_000.0)


@given(st.datetimes(datetime(2, 1, 1), datetime(9999, 1, 1), timezones=st.timezones()))  # noqa: DTZ001 - zones are drawn
def test_a_text_in_iso_format_is_the_same_time_as_its_datetime(moment: datetime) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        (one, other) = memory.add(
            [{"role": "user", "content": "I moved.", "timestamp": given} for given in (moment, moment.isoformat())],
            session_id="s",
        )
        assert memory.get(one).timestamp == memory.get(other).timestamp
