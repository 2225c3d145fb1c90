#!/bin/sh
# Package: surrealdb 2.0.0
# Behaviour: A query of several statements returns the result of the first, also if that is LET, and raises no error of a later one, while the others are done; within BEGIN and COMMIT the error is raised.
# Guess: SU14: an error in the second of three statements is raised (0.5).
# Seen: The first result; the refused second statement shows in `query_raw` only, and the third has created its record.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: surrealdb==2.0.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from surrealdb import Surreal

memory = Surreal("mem://")
memory.use("a", "a")
first = memory.query("CREATE note:one; CREATE note:one; CREATE note:two")
assert [str(row["id"]) for row in first] == ["note:one"], first
assert memory.query("SELECT VALUE record::id(id) FROM note") == ["one", "two"]
statuses = [each["status"] for each in memory.query_raw("RETURN 1; THROW 'refused'; RETURN 3")["result"]]
assert statuses == ["OK", "ERR", "OK"], statuses
assert memory.query("LET $x = 1; RETURN $x") is None
try:
    memory.query("BEGIN; CREATE note:three; CREATE note:three; COMMIT;")
except Exception:
    pass
else:
    raise AssertionError("a transaction hides its error")
END
