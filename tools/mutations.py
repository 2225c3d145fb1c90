"""Breaks the package in 40 places, one at a time, and tells which faults the tests of a room miss.

    python tools/mutations.py            # all of them; prints a line each, and how many are caught
    python tools/mutations.py 3 17 38    # some of them

The code is copied to a folder of its own and changed there. A row has a file below `src/neurogated`, the text that is
replaced, the text in its place, and the tests below `tests` that must fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MUTATIONS: list[tuple[str, str, str, str]] = [
    # Owners of memories
    ("core/scope.py", "user is None and not self.alone", "user is None", "core/test_model.py"),
    ("core/scope.py", "== self.path\n        )", "is not None\n        )", "core/test_model.py"),
    ("core/scope.py", "alone=self.alone or self.own_session", "alone=self.alone", "core/test_model.py"),
    ("core/scope.py", "wanted is None or found == wanted", "True", "core/test_model.py"),
    ("ingestion/edge_builder.py", "ScopeFilter(user, alone=True)", "ScopeFilter(user)", "test_users.py::test_no_edge_joins_memories_of_two_owners"),
    ("ingestion/duplicates.py", "owner = *node.scope.owner, node.scope.path", "owner = node.scope.path", "ingestion/test_duplicates.py"),
    ("components/expressions.py", '"user_id": scope.user_id, "agent_id"', '"user_id": None, "agent_id"', "sexpr/test_execute.py::test_another_users_memory_does_not_exist"),
    ("components/expressions.py", "because=because, user_id=self._scope.user_id", "because=because", "sexpr/test_execute.py::test_a_user_settles_own_conflicts_only"),
    ("server/routes.py", "delete(caller.deletable(memory_id))", "delete(memory_id)", "server/test_every_route.py::test_a_second_user_cannot_tell_ids_of_the_first_from_unknown_ones server/test_app.py::test_a_key_of_a_user_reads_shared_memories_but_does_not_change_them"),
    ("server/routes.py", "get_context(user_id=caller.user_id, ", "get_context(", "server/test_routes.py::test_a_memory_is_added_read_recalled_changed_and_deleted"),
    ("tiers/canvas.py", "if scope.admits(view.scope_of(row))", "if True", "projections/test_canvas.py"),
    ("session/session.py", "if user_id is None and self.config.require_user:", "if False:", "test_users.py"),
    # Writing and erasing
    ("core/commit.py", "GraphDelta() if learns and self._is_frozen() else plan()", "plan()", "test_interface.py::test_a_freeze_is_kept_and_holds_in_all_processes test_facade.py"),
    ("core/commit.py", "with self.exclusively(patience):", "with contextlib.nullcontext():", "core/test_codec.py"),
    ("storage/live_graph.py", "self._stale = True\n            try:\n                sequence", "try:\n                sequence", "storage/test_sqlite_store.py"),
    ("storage/index/graph_index.py", "        self._commit_vectors(plan)\n", "", "storage/test_conformance.py::TestGraphStore::test_equal_vectors_come_in_order_of_id"),
    ("storage/index/graph_index.py", "self.made_texts.remove(np.setdiff1d(plan.removed_nodes, plan.node_rows))", "pass", "storage/test_conformance.py::TestGraphStore test_erasing.py::test_no_text_of_a_deleted_memory_is_left_in_the_process"),
    ("storage/log/sqlite/journal.py", 'self._end("edges", "edge", edges, sequence)', "pass", "storage/test_conformance.py::TestSqliteStore::test_all_there_is_comes_back"),
    ("storage/log/sqlite/journal.py", "            self._write_weights(plan, sequence)", "            pass", "storage/test_conformance.py::TestSqliteStore::test_all_there_is_comes_back"),
    ("storage/index/graph/validity.py", "(moment < begin) | (end <= moment)", "moment < begin", "storage/test_validity.py"),
    ("session/administration.py", 'yield f"a {type(cache).__name__}", cache.clear', "pass", "test_erasing.py::test_caches_of_a_language_model_are_emptied_without_one_too"),
    ("session/administration.py", "if place not in _in_use(parts):\n            yield", "if False:\n            yield", "projections/test_copies.py"),
    ("core/codec.py", " or _CHECKSUM.unpack_from(stored) != (zlib.crc32(stored[_CHECKSUM.size :]),)", "", "core/test_codec.py"),
    ("core/files.py", "if since is not None and _clearings(file) != since:", "if False:", "core/test_cache_file.py projections/test_copies.py"),
    ("plasticity/undo.py", "nodes & own, {key for key", "nodes, {key for key", "test_users.py"),
    ("plasticity/undo.py", "if undone is not None or (", "if (", "test_undo.py"),
    ("archive/importing.py", "    check_files(folder, manifest)", "    pass", "archive/test_round_trip.py"),
    ("storage/index/graph/resolve.py", "    _refuse_joined_users(view, delta, node_rows, ends)\n", "", "storage/test_conformance.py::TestGraphStore::test_no_edge_joins_two_users"),
    # Learning and recalling
    ("plasticity/energy.py", "values * (1 + _FAIL_LOSS * outcome)", "values * (1 - _FAIL_LOSS * outcome)", "plasticity/test_energy.py"),
    ("plasticity/energy.py", "for _ in range(count - wakes):", "for _ in range(count):", "plasticity/test_energy.py"),
    ("plasticity/access_log.py", "mark.without(shared) if is_of_user and shared", "mark if False", "plasticity/test_plasticity_engine.py"),
    ("plasticity/plasticity_engine.py", "share = min(1.0, MAX_OUT_WEIGHT / total)", "share = 1.0", "plasticity/test_plasticity_engine.py"),
    ("plasticity/plasticity_engine.py", "lowered >= self._config.MIN_EDGE_WEIGHT", "lowered >= 0", "plasticity/test_plasticity_engine.py"),
    ("plasticity/plasticity_engine.py", "idle_before - begin < _SHORTEST_DECAY", "False", "test_interface.py::test_forgetting_counts_time_and_not_calls"),
    ("retrieval/dormancy.py", "shown &= ~are_echoes(", "shown &= are_echoes(", "context/test_echoes.py"),
    ("retrieval/dormancy.py", "asleep = law.dormant(view, rows, now)", "asleep = ~law.dormant(view, rows, now)", "retrieval/test_trust.py"),
    ("retrieval/activation.py", "-self.amount[into], self.target", "self.amount[into], self.target", "retrieval/test_spreading_activation.py"),
    ("retrieval/ranking.py", "np.exp2(-age", "np.exp2(age", "retrieval/test_neuro_retriever.py"),
    ("context/builder.py", "if needed > budget:", "if needed > 2 * budget:", "context/test_get_context.py"),
    ("llm/wrappers.py", "number >= most", "number > most", "llm/test_structured.py"),
]  # fmt: skip


def is_caught(source: Path, mutation: tuple[str, str, str, str]) -> bool:
    """Return whether the tests fail with the mutation; raises ValueError if its text is not there exactly once."""
    name, old, new, tests = mutation
    file = source / "neurogated" / name
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{name} has {old!r} {text.count(old)} times")
    changed = text.replace(old, new)
    if "contextlib." in new and "import contextlib" not in text:
        changed = changed.replace("import annotations\n", "import annotations\n\nimport contextlib\n", 1)
    file.write_text(changed, encoding="utf-8")
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-m", "not nightly"]
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/{one}" for one in tests.split())]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    try:
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode == 1  # noqa: S603 - this interpreter
    finally:
        file.write_text(text, encoding="utf-8")


def main(numbers: list[int]) -> None:
    """Run some mutations, or all."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        results = []
        for number in numbers or range(1, len(MUTATIONS) + 1):
            results.append(is_caught(source, MUTATIONS[number - 1]))
            print(
                f"{number:2} {'caught' if results[-1] else 'MISSED'} {' -> '.join(MUTATIONS[number - 1][:3])}",
                flush=True,
            )
    print(f"{sum(results)} of {len(results)} caught")


if __name__ == "__main__":
    main(list(map(int, sys.argv[1:])))
