#!/bin/sh
# Package: duckdb 2.0.1
# Behaviour: An upsert whose rows repeat a key keeps the first of them and drops the others without a word, also where it adds up; a merge inserts a new key as often as it is repeated.
# Guess: DK2: it is an error, as in PostgreSQL (0.7).
# Seen: 7 of 7, 8 and 6; 1 of three counts; rows one by one count 3. Two rows of key 3 by MERGE INTO.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: duckdb==2.0.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import duckdb

base = duckdb.connect()

def after(statement):
    base.execute("create or replace table t (id int primary key, n int)")
    base.execute("insert into t values (1, 0)")
    base.execute(statement)
    return base.execute("from t order by id").fetchall()

assert after("insert into t values (1, 7), (1, 8), (1, 6) on conflict do update set n = excluded.n") == [(1, 7)]
assert after("insert or replace into t values (1, 7), (1, 8), (2, 3), (2, 4)") == [(1, 7), (2, 3)]
count = "on conflict do update set n = t.n + excluded.n"
assert after(f"insert into t values (1, 1), (1, 1), (1, 1) {count}") == [(1, 1)]
for _ in range(3):
    base.execute(f"insert into t values (2, 1) {count}")
assert base.execute("from t order by id").fetchall() == [(1, 1), (2, 3)]
base.execute("create table plain (id int, n int)")
base.execute("merge into plain using (values (3, 5), (3, 5)) s(id, n) on plain.id = s.id when matched then update set n = s.n when not matched then insert values (s.id, s.n)")
assert base.execute("from plain").fetchall() == [(3, 5), (3, 5)]
END
