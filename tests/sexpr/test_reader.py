"""Reading and writing expressions."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.errors import ExpressionError
from neurogated.sexpr import OPERATIONS, Atom, Form, check, layout, read, write
from neurogated.sexpr.reader import LONGEST, MOST
from tests.sexpr.random_expressions import expressions


@given(expressions)
def test_an_expression_survives_writing(expression: Atom | Form) -> None:
    assert read(write(expression)) == expression
    assert write(read(write(expression))) == write(expression)


@given(expressions, st.lists(st.text('; ()"ab', max_size=10), max_size=3))
def test_a_layout_keeps_the_expression_and_its_comments(expression: Atom | Form, comments: list[str]) -> None:
    text = "".join(f"; {one}\n" for one in comments) + write(expression).replace(" (", " ; why \n(")
    with contextlib.suppress(ExpressionError):
        before, shown = read(text), layout(text)
        assert read(shown) == before
        assert layout(shown) == shown
        assert "".join(shown.split()) == "".join(text.split())


def test_a_long_form_has_a_line_for_each_item() -> None:
    text = f'(remember "{"x" * 90}" ; why\n (list "a" "b"))'
    assert layout(text) == f'(remember\n  "{"x" * 90}"\n  ; why\n  (list "a" "b"))\n'
    assert layout('( recall   "x"\n5 )') == '(recall "x" 5)\n'


@pytest.mark.parametrize("one", [one.example for one in OPERATIONS.values()])
def test_every_example_fits_and_is_written_to_the_letter(one: str) -> None:
    assert write(read(one)) == one
    assert check(one).operation.name == one.strip("()").split()[0]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("(stats", 1, 1),
        ("\n (stats))", 2, 9),
        ("(stats) (stats)", 1, 9),
        ('(recall\n "x', 2, 2),
        ("'a", 1, 1),
        ("(recall 1e999)", 1, 9),
        ('(recall "x"\n 0)', 2, 2),
        ('(recal "x")', 1, 2),
        ("(recall)", 1, 1),
        ('(recall "x" 5 6)', 1, 15),
        ('(recall "x" :top_n 5 7)', 1, 22),
        ('(recall "x" :top_n)', 1, 1),
        ('(recall "x" :topn 3)', 1, 13),
        ('(recall (remember "x"))', 1, 9),
        ("(explain (explain (stats)))", 1, 11),
    ],
)
def test_a_fault_has_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        check(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_fault_in_the_name_of_an_argument_names_the_nearest_or_all() -> None:
    with pytest.raises(ExpressionError, match="did you mean :top_n"):
        check('(recall "x" :topn 3)')
    with pytest.raises(ExpressionError, match="known are :query, :top_n"):
        check('(recall "x" :zzz 3)')


def test_an_expression_beyond_a_limit_is_refused_where_it_exceeds_it() -> None:
    full = "(" + "1 " * (MOST - 1) + ")"
    assert read(full) == read(write(read(full)))
    for text, at in ((f"({full})", len(full) - 1), (f'"{" " * LONGEST}"', LONGEST + 1)):
        with pytest.raises(ExpressionError) as caught:
            read(text)
        assert caught.value.column == at


@pytest.mark.parametrize(
    ("text", "limit", "column"),
    [
        (f'(recall "{"7" * 10_001}")', "10,000", 9),
        ('(recall "ferry" :top_n 1001)', "1,000", 24),
        (f'(remember "{"x" * 200_001}")', "200,000", 11),
        (f"""(query (or {'(= "year" 1)' * 125}))""", "500", 8),
        (f"""(query (in "year" (list {'"1"' * 501})))""", "500", 8),
        (f"""(query :tags (list {'"pump"' * 1_001}))""", "1,000", 14),
        ('(path "a" "b" 11)', "10", 15),
        ('(explain (context "Plan the trip" 100001))', "100,000", 35),
    ],
    ids=["question", "results", "document", "conditions", "values", "tags", "depth", "tokens"],
)
def test_an_argument_that_would_cost_too_much_is_refused_with_its_place(text: str, limit: str, column: int) -> None:
    with pytest.raises(ExpressionError, match=limit) as caught:
        check(text)
    assert (caught.value.line, caught.value.column) == (1, column)
