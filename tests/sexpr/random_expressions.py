"""Random expressions: any values, and calls that often fit."""

import hypothesis.strategies as st

from neurogated.sexpr import OPERATIONS, Atom, Form, Symbol, write

_VALUES = st.one_of(
    st.text(st.characters()),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.sampled_from([*OPERATIONS, "list", "and", "or", "not", "=", "<", "in", ":top_n", ":depth", "x'"[:1]]).map(
        Symbol
    ),
)
_ATOMS = _VALUES.map(Atom)
expressions = st.recursive(
    _ATOMS,
    lambda inner: st.builds(
        lambda items, *, quoted: Form(tuple(items), 0, quoted), st.lists(inner), quoted=st.booleans()
    ),
    max_leaves=20,
)
"""Any expression."""

_FITTING = {
    "id": st.sampled_from(['"a"', '"b"', '"c"', '"theirs"', '"nothing"']),
    "ids": st.sampled_from(['"a"', '(list "a" "b")', '\'("a" "theirs")', "(list)"]),
    "texts": st.sampled_from(['(list "x" "y")', "'()", '"x"']),
    "unit": st.sampled_from(["0", "0.5", "1", "2"]),
    "days": st.sampled_from(["0.5", "30", "0"]),
    "count": st.sampled_from(["1", "5", "100", "0"]),
    "tokens": st.sampled_from(["1", "100", "0"]),
    "steps": st.sampled_from(["1", "3", "10", "11"]),
    "duration": st.sampled_from(['"30d"', '"12h 45m"', '"500ms"', '"soon"']),
    "outcome": st.sampled_from(['"success"', '"fail"', "0.5", '"maybe"']),
    "status": st.sampled_from(['"open"', '"all"', '"closed"']),
    "condition": st.sampled_from(['(= "n" 1)', '(and (> "n" 1) (not (exists "m")))', '(in "n" (list "x"))', "(= 1)"]),
}
_INJECTIONS = ["'}) DETACH DELETE n //", "` MATCH (n) DELETE n", "$user_id", "causal", "temporal", "semantic", "knows"]
_TEXTS = st.one_of(st.sampled_from(_INJECTIONS), st.text(st.characters(exclude_categories=["Cs"]), max_size=20)).map(
    lambda text: write(Atom(text))
)


@st.composite
def calls(draw: st.DrawFn) -> str:
    """Draw a call of an operation whose arguments mostly fit."""
    operation = draw(st.sampled_from(sorted(OPERATIONS)))
    if operation == "explain":
        return f"(explain {draw(calls())})"
    words = [operation]
    for parameter in OPERATIONS[operation].parameters:
        if draw(st.integers(0, 9)) == 0:
            break
        words.append(draw(_FITTING.get(parameter.type, _TEXTS)))
    return f"({' '.join(words)})"
