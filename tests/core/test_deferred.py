"""Values that are computed when they are first read."""

import copy
import pickle

from neurogated.core.deferred import DeferredDict, DeferredTuple


def test_a_value_is_computed_once_and_only_if_it_is_read() -> None:
    computed = []

    def compute() -> tuple[int, ...]:
        computed.append(1)
        return 1, 2, 3

    value = DeferredTuple(compute)
    assert not computed
    assert (len(value), value[0], value[1:], list(value), 2 in value) == (3, 1, (2, 3), [1, 2, 3], True)
    assert len(computed) == 1


def test_it_equals_its_value_and_is_copied_as_one() -> None:
    value, by_name = DeferredTuple(lambda: (1, 2)), DeferredDict(lambda: {"a": 1})
    assert value == (1, 2) == DeferredTuple(lambda: (1, 2))
    assert value != (1,)
    assert by_name == {"a": 1}
    assert (hash(value), repr(value), repr(by_name)) == (hash((1, 2)), "(1, 2)", "{'a': 1}")
    assert type(pickle.loads(pickle.dumps(value))) is tuple  # noqa: S301 - its own pickle
    assert copy.deepcopy(by_name) == dict(by_name.items())
