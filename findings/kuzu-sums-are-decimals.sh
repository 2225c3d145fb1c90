#!/bin/sh
# Package: kuzu 0.11.3
# Behaviour: The sum of integers is a Decimal in Python, however small, so JSON refuses it; counts and largest values are ints.
# Guess: L22: a sum beyond 64 bits raises an error (0.7).
# Seen: Decimal('3') for 1 and 2, and 2**63 exactly.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: kuzu==0.11.3
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import json
from decimal import Decimal
import kuzu

graph = kuzu.Connection(kuzu.Database("graph"))
((total, most, count),) = graph.execute("UNWIND [1, 2] AS i RETURN sum(i), max(i), count(i)").get_all()
assert (type(total), type(most), type(count)) == (Decimal, int, int)
try:
    json.dumps(total)
except TypeError:
    pass
else:
    raise AssertionError("JSON took it")
assert graph.execute("UNWIND [9223372036854775807, 1] AS i RETURN sum(i)").get_all() == [[Decimal(2**63)]]
END
