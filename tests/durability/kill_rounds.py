"""Kill processes that use a memory: `python kill_rounds.py FOLDER SEED ROUNDS`.

This process imports everything and opens no memory. In each round it forks a child that works on the memory and kills
it with SIGKILL. Then it forks another child, which opens the memory and checks the promises made to the first. It
prints the results as JSON.
"""

import contextlib
import dataclasses
import faulthandler
import functools
import hashlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import numpy as np

from neurogated import Document, MemoryConfig, NeuroGraphMemory, Passage
from neurogated.core.conflicts import CONFLICT
from neurogated.errors import StorageError
from neurogated.session import runtime
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.beside import read_in_this_process, read_with_plain_sqlite, run_child

__all__ = ["Rounds", "config_for", "run_child"]

_WORDS = ["the", "rain", "broke", "a", "dam", "and", "flooded", "old", "fields", "because", "people", "slept"]
_KINDS = ["add"] * 3 + ["batch"] * 3 + ["talk"] * 3 + ["mortal"] * 2 + ["update"] * 4 + ["delete"] * 3 + [
          "delete_document", "feedback", "maintenance", "maintenance", "undo", "recall", "elsewhere", "drop", "compact",
          "snapshot"]  # fmt: skip
_RARE = ["compact", "snapshot", "drop", "batch", "delete", "delete_document", "update", "maintenance"]
_ROUND_SECONDS = 30


@functools.cache
def config_for(folder: Path) -> MemoryConfig:
    """Return the settings of the memory."""
    runtime.ACCESS_FLUSH_SECONDS = 0.0
    quick = {"runtime.checkpoint_changes": 60}
    return MemoryConfig.from_mapping({"save_dir": folder / "out", "embedding_name": "hash", **quick})


@functools.cache
def _in_memory() -> MemoryConfig:
    return MemoryConfig(storage="memory", embedding_name="hash")


def _text(chance: random.Random) -> str:
    sentences = [" ".join(chance.choices(_WORDS, k=12)) for _ in range(chance.choice([1, 3, 12]))]
    return " ".join(f"{sentence.capitalize()} {chance.randrange(10**9)}." for sentence in sentences)


def _talk(texts: list[str]) -> Document:
    """Return a dialogue. Each turn is quoted by the next."""
    return Document(tuple(Passage(text, speaker="Ann" if turn % 2 else "Bo") for turn, text in enumerate(texts)))


def _graphs(store: Any) -> dict[str, list[Any]]:  # noqa: ANN401
    """Return the number of the last delta and a digest for each namespace."""
    found = {}
    for name in store.namespaces():
        graph = store.in_namespace(name)
        found[name] = [graph.view().sequence, _digest(graph)]
    return found


def _digest(graph: Any) -> str:  # noqa: ANN401
    """Return a digest of all nodes, their vectors, and all edges with weights."""
    nodes = [
        (
            node.id,
            node.content,
            dict(node.metadata),
            None if node.embedding is None else np.asarray(node.embedding).tobytes(),
        )
        for node in graph.all_nodes()
    ]
    edges = [(*edge.key[:2], edge.type.value, edge.weight) for edge in graph.all_edges()]
    return hashlib.sha256(repr((nodes, edges)).encode()).hexdigest()


class Work:
    """The work of a child until it is killed. It writes down every promise after the call has returned."""

    def __init__(self, folder: Path, chance: random.Random, say: Callable[[dict[str, Any]], None]) -> None:
        self._folder, self._chance, self._say = folder, chance, say
        # Promises of the calls: texts that are gone without a trace, and the current texts of nodes.
        self._gone: set[str] = set()
        self._updated: dict[str, str] = {}

    def run(self) -> None:
        self._say({"begin": "open"})
        with NeuroGraphMemory(config_for(self._folder)) as memory:
            self._memory = memory
            self._done("open")
            read_in_this_process(self._folder)
            while True:
                kind = self._chance.choice(_KINDS)
                getattr(self, f"_{kind}")()
                self._done(kind)

    def _done(self, kind: str) -> None:
        graphs = _graphs(self._memory.store)
        self._say({"done": kind, "graphs": graphs, "gone": sorted(self._gone), "updated": self._updated})

    def _add(self) -> None:
        text = _text(self._chance)
        self._say({"begin": "add", "texts": [text]})
        self._memory.add_document(text)

    def _batch(self) -> None:
        texts = [_text(self._chance) for _ in range(3)]
        self._say({"begin": "batch", "texts": texts})
        self._memory.add_documents(texts, progress=False)

    def _talk(self) -> None:
        texts = [_text(self._chance) for _ in range(4)]
        self._say({"begin": "talk", "talk": texts})
        self._memory.add_documents([_talk(texts)], progress=False)

    def _mortal(self) -> None:
        text = _text(self._chance)
        self._say({"begin": "mortal", "texts": [text]})
        self._memory.add_document(text, ttl=timedelta(days=self._chance.randint(1, 20)))

    def _update(self) -> None:
        for node in self._memory.store.get_nodes(self._some(1)):
            text = f"Now {self._chance.choice(_WORDS)} {self._chance.randrange(10**9)}."
            self._say({"begin": "update", "id": node.id, "old": node.content, "new": text})
            self._memory.update(node.id, text)
            self._gone.add(node.content)
            self._updated[node.id] = text

    def _delete(self) -> None:
        if ids := self._some(8):
            self._forget("delete", ids, lambda: self._memory.delete(ids))

    def _delete_document(self) -> None:
        nodes = [node for node in self._memory.store.all_nodes() if node.kind != CONFLICT]
        if nodes:
            document = str(self._chance.choice(nodes).found.document_id)
            ids = [node.id for node in nodes if node.found.document_id == document]
            self._forget("delete_document", ids, lambda: self._memory.delete_document(document))

    def _forget(self, kind: str, ids: list[str], call: Callable[[], object]) -> None:
        """Remove nodes. After the call, nothing of their texts may remain."""
        # Conflicts have no text.
        texts = [node.content for node in self._memory.store.get_nodes(ids) if node.content]
        self._say({"begin": kind, "ids": ids, "forgotten": texts})
        call()
        self._gone.update(texts)
        for node_id in ids:
            self._updated.pop(node_id, None)

    def _feedback(self) -> None:
        self._say({"begin": "feedback"})
        self._memory.feedback(self._some(3))

    def _maintenance(self) -> None:
        now = self._memory.session.parts.clock() + timedelta(days=self._chance.randrange(40))
        self._forget("maintenance", self._memory.store.snapshot().expired(now), lambda: self._memory.maintenance(now))

    def _undo(self) -> None:
        self._say({"begin": "undo"})
        self._memory.undo()
        # Undo may have restored any text.
        self._gone.clear()
        self._updated.clear()

    def _recall(self) -> None:
        self._say({"begin": "recall"})
        self._memory.retrieve("Why was the field flooded?")

    def _elsewhere(self) -> None:
        name = f"space {self._chance.randrange(3)}"
        self._say({"begin": "elsewhere", "namespace": name})
        self._memory.in_namespace(name).add_document(_text(self._chance))

    def _drop(self) -> None:
        name = f"space {self._chance.randrange(3)}"
        if name in self._memory.store.namespaces():
            self._say({"begin": "drop", "namespace": name})
            self._memory.store.drop_namespace(name)

    def _compact(self) -> None:
        self._say({"begin": "compact"})
        # If a reader is active, the log stays until the next compaction.
        with contextlib.suppress(StorageError):
            self._memory.store.compact()

    def _snapshot(self) -> None:
        target = self._folder / f"{self._chance.randrange(10**9)}.snapshot"
        self._say({"begin": "snapshot"})
        self._memory.store.backup(target)  # type: ignore[attr-defined]

    def _some(self, most: int) -> list[str]:
        view = self._memory.store.view()
        rows = view.live_nodes()
        kinds = view.kind.take(rows).tolist()
        ids = [view.ids[row] for row, kind in zip(rows.tolist(), kinds, strict=True) if view.kinds[kind] != CONFLICT]
        return self._chance.sample(ids, min(len(ids), self._chance.randint(1, most)))


@dataclasses.dataclass
class Death:
    """The promises that a child had written when it was killed."""

    promised: dict[str, list[Any]] | None = None
    gone: list[str] = dataclasses.field(default_factory=list)
    updated: dict[str, str] = dataclasses.field(default_factory=dict)
    in_flight: dict[str, Any] = dataclasses.field(default_factory=dict)
    operations: int = 0


class Rounds:
    """Rounds of kills and checks on one memory."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.chance = folder, random.Random(seed)
        self.killed_during = Counter[str]()
        self.operations = 0
        self.last: dict[str, list[Any]] | None = None

    def round(self) -> Self:
        """Fork a worker, kill it, and check the files."""
        chance = random.Random(self.chance.random())

        def work(pipe: int) -> None:
            Work(self.folder, chance, lambda said: _write(pipe, said)).run()

        reader, pipe = run_child(lambda _: read_with_plain_sqlite(self.folder))
        try:
            death = self._until_killed(*run_child(work))
        finally:
            os.close(pipe)
            os.kill(reader, signal.SIGKILL)
            os.waitpid(reader, 0)
        self.killed_during[death.in_flight.get("begin", "nothing")] += 1
        self.operations += death.operations
        child, read = run_child(lambda pipe: _write(pipe, look(self.folder, death, self.last)))
        said = _read_all(read)
        if os.waitpid(child, 0)[1]:
            raise SystemExit(f"killed {death}: its files break a promise")
        (self.last,) = said
        return self

    def _until_killed(self, child: int, read: int) -> Death:
        """Kill the child at a random moment."""
        death, limit = Death(), self.chance.randrange(1, 8)
        # Half of the kills wait for the start of a rare kind of change, the others for a number of changes.
        rare = self.chance.choice(_RARE)
        kind = rare if self.chance.random() < 0.5 else None
        begun = 0.0 if self.chance.random() < 0.1 else None
        if begun is not None:
            time.sleep(self.chance.random() * 0.03)
            os.kill(child, signal.SIGKILL)
        with os.fdopen(read) as lines:
            for line in lines:
                if not line.endswith("\n"):
                    break
                said = json.loads(line)
                if "done" in said:
                    death.promised, death.in_flight = said["graphs"], {}
                    death.gone, death.updated = said["gone"], said["updated"]
                    death.operations += 1
                else:
                    death.in_flight = said
                due = said.get("begin") == kind if kind else death.operations >= limit
                if begun is None and (due or death.operations > 12):
                    begun = self.chance.random() * self.chance.choice([0.0003, 0.003, 0.03])
                    time.sleep(begun)
                    os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            raise SystemExit(f"the child failed by itself: {status} in {death.in_flight}")
        return death


def look(folder: Path, death: Death, last: dict[str, list[Any]] | None) -> dict[str, Any]:
    """Open the memory after a kill, compare it with the promises, and return its state."""
    # If a call hangs, print its stack.
    faulthandler.dump_traceback_later(_ROUND_SECONDS, exit=True)
    promised, doing = death.promised or last or {}, death.in_flight
    for snapshot in folder.glob("*.snapshot"):
        with SqliteStore.open(snapshot, read_only=True) as copy:
            assert copy.check() == [], f"snapshot {snapshot} is not whole"
        for file in folder.glob(snapshot.name + "*"):
            file.unlink()
    with NeuroGraphMemory(config_for(folder)) as memory:
        store: Any = memory.store
        assert store.check() == []
        there = _graphs(store)
        space = doing.get("namespace")
        assert there.keys() - promised.keys() <= {"default", space}, (there.keys(), promised.keys())
        assert promised.keys() - there.keys() <= ({space} if doing.get("begin") == "drop" else set())
        for name, (sequence, digest) in promised.items():
            if name not in there or there[name] == [sequence, digest]:
                continue
            # There may be more than was promised: the call in flight. The state before it must match the promises.
            assert doing, f"{name} went on by itself"
            assert there[name][0] > sequence or doing["begin"] == "open", (name, there[name], sequence)
            assert _digest(store.in_namespace(name).as_of(sequence)) == digest, name
        name = memory.config.namespace
        if name in promised:
            sequence = promised[name][0]
            _look_at_promises(store if there[name][0] == sequence else store.as_of(sequence), death)
        _look_at_documents(memory, doing)
        return _graphs(store)


def _look_at_promises(graph: Any, death: Death) -> None:  # noqa: ANN401
    _no_trace(graph, death.gone)
    for node_id, text in death.updated.items():
        assert graph.get_node(node_id).content == text, "an update is lost"


def _no_trace(graph: Any, texts: list[str]) -> None:  # noqa: ANN401
    """Check that no node contains any of the texts."""
    said = [str(node) for node in graph.all_nodes()]
    for text in texts:
        assert not any(text in part for part in said), f"{text!r} was forgotten"


def _look_at_documents(memory: NeuroGraphMemory, doing: dict[str, Any]) -> None:
    """Check that each document in flight is complete or absent, and that each deletion is too."""
    if "texts" in doing or "talk" in doing:
        with NeuroGraphMemory(_in_memory()) as other:
            expected = other.add_documents(doing.get("texts") or [_talk(doing["talk"])], progress=False)
        for ids in expected:
            found = [memory.store.has_node(node_id) for node_id in ids]
            assert all(found) or not any(found), "half a document"
    if doing.get("ids"):
        found = [memory.store.has_node(node_id) for node_id in doing["ids"]]
        assert all(found) or not any(found), "half a deletion"
        if not any(found):
            _no_trace(memory.store, doing["forgotten"])
    if doing.get("begin") == "update":
        content = memory.store.get_nodes([doing["id"]])[0].content
        assert content in (doing["old"], doing["new"]), "half an update"
        _no_trace(memory.store, [doing["new" if content == doing["old"] else "old"]])


def _write(pipe: int, said: dict[str, Any]) -> None:
    line = json.dumps(said).encode() + b"\n"
    while line:
        line = line[os.write(pipe, line) :]


def _read_all(read: int) -> list[dict[str, Any]]:
    with os.fdopen(read) as lines:
        return [json.loads(line) for line in lines]


def warm_up(folder: Path) -> None:
    """Import all lazy modules, so that no child has to."""
    config_for(folder)
    with NeuroGraphMemory(_in_memory()) as memory:
        memory.feedback(memory.add_document("Rain fell. The dam broke because of the rain."))
        memory.add_documents([_talk(["It rains.", "It does."])], progress=False)
        memory.update(memory.add_document("The dam held.")[0], "The dam broke.")
        memory.retrieve("Why did the dam break?")
        memory.undo()


def main() -> None:
    """Run the rounds of the command line."""
    folder, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    warm_up(folder)
    rounds = Rounds(folder, seed)
    for _ in range(count):
        rounds.round()
    print(json.dumps({"killed during": rounds.killed_during, "operations": rounds.operations}))  # noqa: T201


if __name__ == "__main__":
    main()
