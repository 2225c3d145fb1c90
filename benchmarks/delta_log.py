"""The gate of a file that holds deltas instead of rows: time to fold a delta, size of the file, time of `as_of`.

It builds a memory from LoCoMo under several users, copies its deltas into a file of thin deltas, records and vectors,
and folds them into columns. Columns are compared with those of the memory.

python -m benchmarks.delta_log ../shared/data/locomo_conv0-4.json --deltas 10000
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.clock import to_micros
from neurogated.core.codec import decode, delta_to_json, encode
from neurogated.core.columns import NODE_COLUMNS
from neurogated.core.delta import Decay, JournalEntry
from neurogated.core.edge_type import EdgeType
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.evaluation.datasets import load_locomo
from neurogated.storage.index.graph.resolve import make_plan
from neurogated.storage.index.graph.topology import Fading, Topology, layer_of
from neurogated.storage.log.sqlite.connection import connect, reserve_checksums
from neurogated.storage.sqlite_store import SqliteStore

_RECORD = ("content", "metadata", "found", "tags", "title", "role", "speaker", "timestamp", "valid_from", "valid_to")
_SECOND, _AT = 1.0, 100_000
Answer = TypeVar("Answer")
Values = dict[str, Any]
Key = tuple[Any, ...]
"""Source, target and type of an edge."""


def main() -> None:
    """Build the memory and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conversations", type=Path)
    parser.add_argument("--deltas", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _fill(MemoryConfig(save_dir=name, embedding_name="hash"), arguments.conversations, arguments.deltas)
        with SqliteStore.open(folder / "memory" / "memory.db") as store:
            _measure(store, folder)


def _fill(config: MemoryConfig, conversations: Path, deltas: int) -> None:
    collections = load_locomo(conversations.stem, conversations.parent).collections
    documents = [document for collection in collections for document in collection.documents]
    texts = [(passage.text, document.scope.session_id) for document in documents for passage in document.passages]
    with NeuroGraphMemory(config) as memory:
        for number in count():
            text, session = texts[number % len(texts)]
            user = f"user {number // len(texts)}"
            (added, *_) = memory.add(text, user_id=user, session_id=session)
            if number % 10 == 0:
                memory.feedback(memory.recall(text[:60], user_id=user))
            if number % 40 == 0:
                memory.update(added, content=f"{text} It was so.")
            if number % 80 == 0:
                memory.delete(added)
            if number % 400 == 0:
                memory.maintenance()
            if memory.store.view().sequence >= deltas:
                return


def _measure(store: SqliteStore, folder: Path) -> None:
    entries = list(store.journal())
    each, view = len(entries), store.view()
    print(f"{each:,} deltas, {view.node_count:,} rows of nodes, {view.edge_count:,} of edges")
    bodies, took = _timed(lambda: [encode(entry.delta) for entry in entries])
    print(f"whole deltas: {sum(map(len, bodies)) / each:,.0f} bytes and {1000 * took / each:.3f} ms to encode each")
    _, took = _timed(lambda: [decode(body) for body in bodies])
    print(f"  decode {1000 * took / each:.3f} ms each")
    _, took = _timed(lambda: _replayed(entries))
    print(f"  plan and commit, one by one, columns only: {1000 * took / each:.3f} ms each")

    path = folder / "deltas.db"
    _write(path, entries)
    rows = folder / "rows.db"
    with closing(connect(store.engine.file.path, read_only=True)) as source:
        source.execute("VACUUM INTO ?", (str(rows),))
    sizes = {name: file.stat().st_size for name, file in (("rows", rows), ("deltas", path))}
    of_rows, of_deltas = sizes["rows"], sizes["deltas"]
    print(f"file of rows {of_rows:,} bytes; of deltas {of_deltas:,}, {of_deltas / of_rows:.2f} ×")
    with closing(connect(path, read_only=True)) as log:
        for table, column in (("deltas", "body"), ("records", "body"), ("vectors", "vector")):
            ((found, size),) = log.execute(f"SELECT count(*), sum(length({column})) FROM {table}")
            print(f"  {table}: {found:,} of {size / found:,.0f} bytes")
        thin, parse = _timed(lambda: [_thin(body) for (body,) in log.execute("SELECT body FROM deltas")])
        print(f"  read and parse {1000 * parse / each:.3f} ms each")
        topology, took_to_fold = _timed(lambda: _folded(thin))
        print(f"  fold and build columns {1000 * took_to_fold / each:.3f} ms each")
    _compare(view, topology.view())

    view = topology.view()
    bundle, took = _timed(lambda: _bundle(view))
    plain, size = sum(len(part) for part, _ in bundle), sum(len(part) for _, part in bundle)
    print(f"checkpoint of columns: {size / of_rows:.2f} of the file, uncompressed {plain / of_rows:.2f}; {took:.2f} s")
    _, load = _timed(lambda: _read(bundle, view))
    scale = _AT / each
    print(f"  read in {load:.3f} s; at {_AT:,} deltas in {load * scale:.2f} s")
    between = int((_SECOND - load * scale) / (parse + took_to_fold) * each)
    # The graph grows evenly, so a checkpoint is half as large as the last one.
    share = _AT / between * size / (2 * of_rows)
    print(f"  `as_of` within {_SECOND:g} s: one every {between:,} deltas, all together {share:.2f} × the file")


def _bundle(view: GraphView) -> list[tuple[bytes, bytes]]:
    """Return the columns of a graph, plain and compressed, without what follows from them."""
    edges = view.edge_source, view.edge_target, view.edge_type, view.weight.all(), view.last_activated.all()
    nodes = [getattr(view, name).all() for name in ("alive", *NODE_COLUMNS)]
    plain = [json.dumps(list(view.ids)).encode(), *(column.tobytes() for column in (*nodes, *edges))]
    return [(part, zlib.compress(part, 1)) for part in plain]


def _read(bundle: Sequence[tuple[bytes, bytes]], view: GraphView) -> object:
    """Decompress the columns, and make what follows from them, as an index needs."""
    plain = [zlib.decompress(part) for _, part in bundle]
    ids = json.loads(plain[0])
    rows = dict(zip(ids, range(len(ids)), strict=True))
    ends = view.edge_source, view.edge_target
    return rows, layer_of(0, view.edge_count, ends, view.weight, view.node_count)


def _timed(call: Callable[[], Answer]) -> tuple[Answer, float]:
    begin = time.process_time()
    answer = call()
    return answer, time.process_time() - begin


def _replayed(entries: Sequence[JournalEntry]) -> Topology:
    topology = Topology(1000)
    for entry in entries:
        topology.commit(make_plan(topology.view(), entry.delta), entry.sequence)
    return topology


def _write(path: Path, entries: Sequence[JournalEntry]) -> None:
    """Write thin deltas, the records of their nodes, and their vectors."""
    with closing(connect(path, create=True)) as log:
        reserve_checksums(log)
        log.execute(
            "CREATE TABLE deltas (sequence INTEGER PRIMARY KEY, namespace INTEGER, at INTEGER, entry TEXT, body BLOB);"
            "CREATE TABLE records (record INTEGER PRIMARY KEY, body BLOB);"
            "CREATE TABLE vectors (record INTEGER PRIMARY KEY, vector BLOB)"
        )
        number = count(1)
        with log:
            for entry in entries:
                delta = entry.delta
                values = delta_to_json(delta, lambda _: None)
                for node, values_of in zip(delta.nodes, values.get("nodes", ()), strict=True):
                    record = {name: values_of.pop(name) for name in _RECORD if name in values_of}
                    values_of["vector"] = at = next(number)
                    log.execute("INSERT INTO records VALUES (?, ?)", (at, _shortest(record)))
                    if node.embedding is not None:
                        vector = np.asarray(node.embedding, "<f4").tobytes()
                        log.execute("INSERT INTO vectors VALUES (?, ?)", (at, vector))
                line = json.dumps([delta.reason, delta.changes, [one.to_json() for one in delta.operators]])
                row = entry.sequence, 1, to_micros(delta.at), line, _packed({**values, "number": entry.sequence})
                log.execute("INSERT INTO deltas VALUES (?, ?, ?, ?, ?)", row)
        log.execute("VACUUM")


def _shortest(record: Values) -> bytes:
    plain = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    return min(plain, zlib.compress(plain, 6), key=len)


def _packed(values: Values) -> bytes:
    packed = zlib.compress(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode(), 6)
    return zlib.crc32(packed).to_bytes(4, "little") + packed


def _thin(body: bytes) -> Values:
    assert zlib.crc32(body[4:]) == int.from_bytes(body[:4], "little")
    values: Values = json.loads(zlib.decompress(body[4:]))
    return values


class _Fold:
    """The last values of nodes and edges after deltas."""

    def __init__(self) -> None:
        self.nodes: dict[str, Values] = {}
        self.alive: set[str] = set()
        self.rows: list[tuple[Key, list[Any]]] = []
        """Of each edge: weight, last use, and the delta that set the weight."""
        self.fadings: list[tuple[int, Values]] = []
        self._edges: dict[Key, list[Any]] = {}
        self._touching: dict[str, set[Key]] = {}

    def add(self, delta: Values) -> None:
        """Fold the next delta."""
        number, at = delta["number"], delta["at"]
        for key in delta.get("removed_edges", ()):
            self._remove(tuple(key))
        for name in delta.get("removed_nodes", ()):
            self.alive.discard(name)
            for pair in self._touching.pop(name, ()):
                self._remove(pair)
        for node in delta.get("nodes", ()):
            self.nodes[node["id"]] = node
            self.alive.add(node["id"])
        for edge in delta.get("edges", ()):
            self._put(edge, number)
        for change in delta.get("weights", ()):
            row = self._edges[tuple(change["edge"])]
            row[0], row[2] = change["weight"], number
            row[1] = change.get("last_activated", at) if EdgeType(change["edge"][2]).plastic else row[1]
        for change in delta.get("node_changes", ()):
            self._change(change, at)
        self.fadings += [(number, operator) for operator in delta.get("operators", ())]
        if touch := delta.get("touch"):
            self._use(touch, at)

    def _remove(self, key: Key) -> None:
        if (old := self._edges.pop(key, None)) is not None:
            old[0] = np.nan

    def _put(self, edge: Values, number: int) -> None:
        pair = edge["source"], edge["target"], edge["type"]
        self._remove(pair)
        self._edges[pair] = row = [edge["weight"], edge.get("last_activated") or edge["created_at"], number]
        self.rows.append((pair, row))
        for end in pair[:2]:
            self._touching.setdefault(end, set()).add(pair)

    def _change(self, change: Values, at: int) -> None:
        node = self.nodes[change["node"]]
        if "energy" in change:
            node |= {"base_energy": change["energy"], "energy_at": change.get("energy_at", at)}
        if "importance" in change:
            node["importance"] = change["importance"]

    def _use(self, touch: Values, at: int) -> None:
        for name, times in touch.get("nodes", {}).items():
            self.nodes[name] |= {"uses": self.nodes[name].get("uses", 0) + times, "last_accessed": at}
        for name, (charge, moment) in touch.get("charges", {}).items():
            self.nodes[name] |= {"charge": charge, "charged_at": moment}
        for key in touch.get("edges", ()):
            if (row := self._edges.get(tuple(key))) is not None:
                row[1] = max(row[1], at)


def _folded(deltas: Sequence[Values]) -> Topology:
    """Return the columns after all deltas, by one pass over their values in which the last one of each row counts."""
    fold = _Fold()
    for delta in deltas:
        fold.add(delta)
    return _columns(fold.nodes, fold.alive, fold.rows, fold.fadings, deltas[-1]["number"])


def _columns(
    nodes: Mapping[str, Values],
    alive: set[str],
    edges: Sequence[tuple[Key, list[Any]]],
    fadings: Sequence[tuple[int, Values]],
    sequence: int,
) -> Topology:
    topology, ids = Topology(1000), list(nodes)
    places, found = dict(zip(ids, range(len(ids)), strict=True)), list(nodes.values())
    missing = {"importance": 0.5, "uses": 0, "charge": 0.0, "position": -1}
    columns: dict[str, Any] = {
        name: [node.get(name, missing.get(name, 0)) for node in found] for name in NODE_COLUMNS if name != "scope"
    }
    for name in ("energy_at", "charged_at"):
        columns[name] = [node.get(name, node["created_at"]) for node in found]
    columns["kind"] = topology.kind_codes(node["kind"] for node in found)
    scopes = [json.dumps(node.get("scope", {})) for node in found]
    known = {text: Scope(**json.loads(text)) for text in set(scopes)}
    columns["scope"] = topology.scope_codes(known[text] for text in scopes)
    topology.set_nodes(ids, np.arange(len(ids)), columns)
    topology.set(np.array([places[name] for name in ids if name not in alive], dtype=np.int64), alive=False)
    if edges:
        ends = [np.array([places[key[end]] for key, _ in edges]) for end in (0, 1)]
        kinds = {key[2] for key, _ in edges}
        types = {kind: EdgeType(kind) for kind in kinds}
        weight, used, since = zip(*(row for _, row in edges), strict=True)
        codes = topology.type_codes([types[key[2]] for key, _ in edges])
        topology.append_edges((ends[0], ends[1]), codes, np.array(weight), np.array(used))
        numbers = {key: place for place, (key, _) in enumerate(edges)}
        spared = (sorted(numbers[tuple(k)] for k in one.get("spared", ()) if tuple(k) in numbers) for _, one in fadings)
        topology.decay(
            [
                Fading(number, Decay.from_json(one), np.array(rows, dtype=np.int64))
                for (number, one), rows in zip(fadings, spared, strict=True)
            ],
            np.array(since),
        )
    topology.sequence = sequence
    topology.view()
    return topology


def _compare(ours: GraphView, theirs: GraphView) -> None:
    """Print in what the folded columns differ from those of the memory."""
    same = ours.live_nodes().size == theirs.live_nodes().size and ours.live_edges().size == theirs.live_edges().size
    weights = [
        {view.edge_key(row): view.weight.take(np.array([row]))[0] for row in view.live_edges().tolist()}
        for view in (ours, theirs)
    ]
    print(f"  the same nodes and edges: {same}; the same weights: {weights[0] == weights[1]}")


if __name__ == "__main__":
    main()
