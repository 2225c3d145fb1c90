"""Which memories a filter admits by their owners, against the sentences of its docstring."""

from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated.core.scope import ANY_USER, Scope, ScopeFilter

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
