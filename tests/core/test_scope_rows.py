"""The rows of the scopes that filters admit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.scope import ANY_USER, Scope, ScopeFilter
from neurogated.core.scope_rows import ScopeRows

_NAMES = st.sampled_from([None, "a", "b"])
_SCOPES = st.builds(Scope, user_id=_NAMES, session_id=_NAMES)
_FILTERS = st.builds(ScopeFilter, user_id=st.one_of(_NAMES, st.just(ANY_USER)), session_id=_NAMES, alone=st.booleans())


@given(st.lists(st.tuples(_SCOPES, st.integers(0, 12), st.lists(_FILTERS, max_size=3)), max_size=25))
def test_a_filter_finds_all_rows_that_are_or_were_in_its_scopes(
    writes: list[tuple[Scope, int, list[ScopeFilter]]],
) -> None:
    scopes, held = ScopeRows(), list[tuple[Scope, int]]()
    for scope, row, asked in writes:
        scopes.add(scopes.codes([scope]), np.array([row]))
        held.append((scope, row))
        for wanted in asked:
            expected = sorted({row for scope, row in held if wanted.admits(scope)})
            assert scopes.rows(wanted, 100).tolist() == expected
            assert scopes.rows(wanted, 6).tolist() == [row for row in expected if row < 6]


@given(st.lists(st.lists(_SCOPES, min_size=1), min_size=1, max_size=10), _FILTERS)
def test_a_filter_admits_scopes_that_appear_after_its_first_use(
    batches: list[list[Scope]], wanted: ScopeFilter
) -> None:
    scopes = ScopeRows()
    for batch in batches:
        scopes.codes(batch)
        codes = scopes.admitted(wanted)
        found = list(scopes) if codes is None else [scopes[code] for code in codes.tolist()]
        assert sorted(map(repr, found)) == sorted(repr(scope) for scope in scopes if wanted.admits(scope))
