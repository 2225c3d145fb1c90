#!/bin/sh
# Package: polars 2.1.0
# Behaviour: A table from rows takes its types from the first 100: a later 0.87 in a column of integers becomes 0 and a later 5 in one of truth values False, without a word; the same values as a column are refused.
# Guess: PF26: an error (0.6); PF14: a later key is lost or refused (0.6); PF34: a column is refused (0.8).
# Seen: 0, False and [0]; a key that comes later is gone; `infer_schema_length=None` keeps all.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: polars==2.1.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import polars as pl

def last(early, late, **options):
    return pl.DataFrame([{"score": early}] * 100 + [{"score": late}], **options)["score"].to_list()[-1]

assert [last(0, 0.87), last(0, -1.9), last(True, 5), last([1], [0.87])] == [0, -1, False, [0]]
assert last(0, 0.87, strict=True) == 0
assert pl.DataFrame([(0,)] * 100 + [(0.87,)], schema=["score"], orient="row")["score"][-1] == 0
assert pl.DataFrame([{"score": 0}] * 99 + [{"score": 0.87}])["score"][-1] == 0.87
assert last(0, 0.87, infer_schema_length=None) == 0.87
assert pl.DataFrame([{"score": 0}] * 100 + [{"score": 0, "late": 1}]).columns == ["score"]
try:
    pl.DataFrame({"score": [0] * 100 + [0.87]})
except TypeError:
    pass
else:
    raise AssertionError("a column was taken")
END
