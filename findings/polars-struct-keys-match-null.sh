#!/bin/sh
# Package: polars 2.1.0
# Behaviour: A join on two columns never matches rows with null in one of them; a join on a struct or a list of the same values does.
# Guess: PF10: structs with null inside do not match (0.6); PF32: lists with null inside do (0.6).
# Seen: No row by columns, one by a struct, also if all of its fields are null, and one by a list.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: polars==2.1.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import polars as pl

scopes = pl.DataFrame({"user": ["ada", None], "session": [None, None]}, schema={"user": pl.String, "session": pl.String})
assert scopes.join(scopes, on=["user", "session"]).height == 0
one = scopes.select(scope=pl.struct("user", "session"))
assert one.join(one, on="scope").height == 2
listed = scopes.select(scope=pl.concat_list("user", "session"))
assert listed.join(listed, on="scope").height == 2
assert scopes.join(scopes, on=["user", "session"], nulls_equal=True).height == 2
END
