#!/bin/sh
# Package: surrealdb 2.0.0
# Behaviour: None is sent as NONE, and so a create, an update or a merge leaves the field out, except in a list. A NULL of the database is read as None, too. So a record that is read and written back loses the field.
# Guess: SU18: None arrives as NULL (0.6); SU38: it stays in a nested dict (0.7).
# Seen: A merge of None removed the field, a nested one was gone, too, and `x = $v` with None found the record without x.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: surrealdb==2.0.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from surrealdb import RecordID, Surreal

memory = Surreal("mem://")
memory.use("a", "a")
fact = RecordID("fact", "a")
memory.create(fact, {"until": "2026", "nested": {"until": None}, "listed": [None, 1]})
memory.merge(fact, {"until": None})
assert memory.query("SELECT * OMIT id FROM fact") == [{"nested": {}, "listed": [None, 1]}]
memory.query("UPDATE fact:a CONTENT { until: NULL, text: 'x' }")
(row,) = memory.query("SELECT * OMIT id FROM fact")
assert row == {"until": None, "text": "x"}, row
memory.update(fact, row)
assert memory.query("SELECT * OMIT id FROM fact") == [{"text": "x"}]
memory.query("CREATE fact:b SET until = NULL")
assert memory.query("SELECT VALUE record::id(id) FROM fact WHERE until = $v", {"v": None}) == ["a"]
assert memory.query("SELECT VALUE record::id(id) FROM fact WHERE until = NULL") == ["b"]
END
