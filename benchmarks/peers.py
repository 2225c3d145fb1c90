"""Other memories and search libraries beside this one, on the split `test` of `benchmarks/data/said`.

    python -m benchmarks.peers [NAME …] [--folder VENVS] [--chats LOCOMO.json BEAM.json …] [--count N]

Each peer runs in an environment of its own, into which exact versions are installed. All get the same messages, one
at a time, the same questions, and the vectors of our embedder; none asks a language model. Recall is the share of the
messages with the answer among the first 5 and 10, as a mean over the questions. The cost of a message is the median of
processor time without embedding, and their mean. The size is that of the files of all sets, without caches. Never tune
on it. With `--chats`, the messages are the first N of these conversations, one after the other, as of one user, and no
question is asked.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # an environment of a peer has no `neurogated`
    from benchmarks.said import Message

Peer = tuple[Callable[..., object], Callable[[str], Sequence[str]]]
"""Adds a message with an id, a text, a role and a time; returns the ids of ten messages for a question, best first."""
Vectors = dict[str, list[float]]
_PINS = {
    "chroma": ["chromadb==1.5.9"],
    "dory": ["dory-memory==1.2.1"],
    "haystack": ["haystack-ai==3.4.1"],
    "hebb": ["torch==2.13.0", "hebb-mind==0.3.0"],
    "lancedb": ["lancedb==0.40.0"],
    "langgraph": ["langgraph-checkpoint==4.3.2"],
    "llamaindex": ["llama-index-core==0.14.25", "llama-index-retrievers-bm25==0.8.0"],
    "mem0": ["mem0ai==2.2.1", "faiss-cpu==1.15.1"],
    "txtai": ["torch==2.13.0", "txtai==9.14.0"],
}
_OURS, _WANTED = "neurogated", 10
_EMBEDDING, _OPEN = [0.0], list[Any]()  # seconds of embedding; what is closed before files are counted


def main() -> None:
    """Measure the peers and print a table."""
    if len(sys.argv) > 1 and sys.argv[1] == "--alone":
        print(json.dumps(measured(sys.argv[2], json.loads(Path(sys.argv[3]).read_text()), np.load(sys.argv[4]))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((_OURS, *_PINS)))
    parser.add_argument("--folder", type=Path, help="keep the environments here; a temporary folder when left out")
    parser.add_argument("--chats", nargs="+", type=Path, help="files of LoCoMo or BEAM, instead of the split `test`")
    parser.add_argument("--count", type=int, help="how many messages of the chats; all when left out")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        sets = _chats(chosen.chats)[: chosen.count] if chosen.chats else None
        task, vectors = _task(Path(temporary), [(sets, [])] if sets else _said())
        print(
            "| | recall@5 | recall@10 | processor time of a message | mean | files |\n|---|---:|---:|---:|---:|---:|",
            flush=True,
        )
        for name in chosen.names or (_OURS, *_PINS):
            peer = [_environment(folder / name, _PINS[name]), __file__] if name in _PINS else []
            command = [*(peer or [sys.executable, "-m", "benchmarks.peers"]), "--alone", name, task, vectors]
            told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(told.stdout.splitlines()[-1])
            size = f"{found['size'] / 1e6:.1f} MB" if found["size"] else "none"
            five, ten = (f"{100 * found[key]:.1f}" for key in ("five", "ten"))
            label = ", ".join(_PINS.get(name, [_OURS])).replace("==", " ")
            print(
                f"| {label} | {five} | {ten} | {found['cost']:.2f} ms | {found['mean']:.2f} ms | {size} |", flush=True
            )


def _chats(paths: Sequence[Path]) -> list[Message]:
    """Return the messages of conversations of LoCoMo and BEAM, one a minute."""
    from benchmarks.said import Message

    said, start = list[tuple[str, str]](), datetime(2024, 1, 1, 9, tzinfo=UTC)
    for path in paths:
        for one in json.loads(path.read_text(encoding="utf-8")):
            if "messages" in one:
                said += [(row["content"], row.get("role", "user")) for row in one["messages"]]
            else:
                parts = [
                    part for key, part in one["conversation"].items() if isinstance(part, list) and "_observ" not in key
                ]
                said += [(f"{turn['speaker']}: {turn['text']}", "user") for part in parts for turn in part]
    return [
        Message(str(number), f"{start + timedelta(minutes=number):%Y-%m-%d %H:%M}", text, role)
        for number, (text, role) in enumerate(said)
        if text.strip()
    ]


def _said() -> list[tuple[list[Message], list[dict[str, Any]]]]:
    """Return the messages and questions of the split."""
    from benchmarks.said import LANGUAGES, changed_messages, data, messages_of

    said = {name: data(name)["test"] for name in ("everyday", "never_said", "advice")}
    advice = [{"question": row["request"], "evidence": row["needs"]} for row in said["advice"]]
    sets = [
        (messages_of(said["everyday"]["messages"]), said["everyday"]["questions"]),
        (messages_of(said["never_said"]["messages"]), said["never_said"]["said"] + advice),
    ]
    for language in LANGUAGES:
        messages, pairs, _ = changed_messages("test", language)
        sets.append((messages, [{"question": row["question"], "evidence": [f"{row['id']} later"]} for row in pairs]))
    return sets


def _task(folder: Path, sets: Sequence[tuple[list[Message], list[dict[str, Any]]]]) -> tuple[Path, Path]:
    """Write messages and questions, and the vectors of their texts."""
    from neurogated import MemoryConfig
    from neurogated.session.compose import build_text_embedder

    task = [
        {
            "messages": [[m.id, m.text, m.role, m.at] for m in sorted(messages, key=lambda one: one.at)],
            "questions": [[row["question"], row["evidence"]] for row in questions],
        }
        for messages, questions in sets
    ]
    texts = [row[1] for part in task for row in part["messages"]]
    asked = [row[0] for part in task for row in part["questions"]]
    embedder = build_text_embedder(MemoryConfig(save_dir=str(folder)))
    vectors = embedder.embed_documents(texts)
    if asked:
        vectors = np.concatenate((vectors, embedder.embed_queries(asked)))
    (folder / "task.json").write_text(json.dumps(task))
    np.save(folder / "vectors.npy", vectors)
    print(f"{len(texts)} messages and {len(asked)} questions in {len(task)} sets", file=sys.stderr)
    return folder / "task.json", folder / "vectors.npy"


def _environment(folder: Path, pins: Sequence[str]) -> str:
    """Return a Python that has these packages."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "numpy", *pins]
        subprocess.run(install, check=True, stdout=sys.stderr)
    return str(python)


def measured(name: str, task: list[dict[str, Any]], vectors: Any) -> dict[str, float]:  # noqa: ANN401
    """Measure a peer that is installed here."""
    rows = iter(vectors.tolist())
    documents = {row[1]: next(rows) for part in task for row in part["messages"]}  # equal texts have equal vectors
    asked = {row[0]: next(rows) for part in task for row in part["questions"]}
    costs, fives, tens, size = [], [], [], 0
    for part in task:
        with tempfile.TemporaryDirectory() as folder:
            add, ask = PEERS[name](Path(folder), documents | asked, len(part["messages"]))
            for row in part["messages"]:
                begin, before = time.process_time(), _EMBEDDING[0]
                add(*row)
                costs.append(time.process_time() - begin - (_EMBEDDING[0] - before))
            for question, gold in part["questions"]:
                found = list(ask(question))[:_WANTED]
                fives.append(len({*found[:5]} & {*gold}) / len({*gold}))
                tens.append(len({*found} & {*gold}) / len({*gold}))
            while _OPEN:
                _OPEN.pop().close()
            files = (file for file in Path(folder).rglob("*") if "cache" not in file.name)
            size += sum(file.stat().st_size for file in files if file.is_file())
    means = {"five": statistics.fmean(fives or [math.nan]), "ten": statistics.fmean(tens or [math.nan])}
    times = {"cost": 1000 * statistics.median(costs), "mean": 1000 * statistics.fmean(costs)}
    return means | times | {"size": size}


# ruff: noqa: PLC0415 - each environment has one peer
def _chroma(folder: Path, vectors: Vectors, _: int) -> Peer:
    import chromadb

    client = chromadb.PersistentClient(str(folder), settings=chromadb.Settings(anonymized_telemetry=False))
    texts = client.create_collection("memory", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    return (
        lambda name, text, *_: texts.add(ids=[name], embeddings=[vectors[text]], documents=[text]),
        lambda question: texts.query(query_embeddings=[vectors[question]], n_results=_WANTED)["ids"][0],
    )


def _dory(folder: Path, _: Vectors, __: int) -> Peer:
    # Its vectors come from a server of its own; without one it finds words, and spreads activation.
    from dory import DoryMemory, activation

    memory, names = DoryMemory(db_path=folder / "dory.db"), dict[str, str]()
    _OPEN.append(memory)

    def add(name: str, text: str, *_: str) -> None:
        names[memory.observe(text)] = name

    def ask(question: str) -> list[str]:
        reached = activation.spread(activation.find_seeds(question, memory.graph)[:8], memory.graph)
        return [names[one] for one in sorted(reached, key=lambda one: -reached[one])]

    return add, ask


def _haystack(_: Path, vectors: Vectors, __: int) -> Peer:
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    joiner = DocumentJoiner("reciprocal_rank_fusion")

    def ask(question: str) -> list[str]:
        words, like = store.bm25_retrieval(question), store.embedding_retrieval(vectors[question])
        return [one.id for one in joiner.run([words, like], top_k=_WANTED)["documents"]]

    return lambda name, text, *_: store.write_documents([Document(id=name, content=text, embedding=vectors[text])]), ask


def _hebb(folder: Path, vectors: Vectors, _: int) -> Peer:
    from hebb import HebbMind
    from hebb.config.settings import Settings
    from hebb.embedding import factory

    class Table:
        dimension = len(next(iter(vectors.values())))

        async def embed(self, text: str) -> list[float]:
            return vectors[text]

    async def made(_: object) -> Table:
        return Table()

    factory.create_embedder = made
    memory, names = HebbMind(Settings(home_dir=folder)), dict[str, str]()
    _OPEN.append(memory)

    def add(name: str, text: str, *_: str) -> None:
        names[memory.add(text[:10_000]).id] = name  # it takes no longer texts

    return add, lambda question: [names[one.memory.id] for one in memory.search(question, top_k=_WANTED)]


def _lancedb(folder: Path, vectors: Vectors, count: int) -> Peer:
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS

    length = len(next(iter(vectors.values())))
    fields = {"id": pa.string(), "text": pa.string(), "vector": pa.list_(pa.float32(), length)}
    table, waiting = lancedb.connect(folder).create_table("memory", schema=pa.schema(fields)), [count]

    def add(name: str, text: str, *_: str) -> None:
        table.add([{"id": name, "text": text, "vector": vectors[text]}])
        waiting[0] -= 1
        if not waiting[0]:
            table.create_index("text", config=FTS())

    def ask(question: str) -> list[str]:
        search = table.search(query_type="hybrid").vector(vectors[question]).text(question).distance_type("cosine")
        return [row["id"] for row in search.limit(_WANTED).to_list()]

    return add, ask


def _langgraph(_: Path, vectors: Vectors, __: int) -> Peer:
    from langgraph.store.memory import InMemoryStore

    length = len(next(iter(vectors.values())))
    store = InMemoryStore(
        index={"dims": length, "embed": lambda texts: [vectors[one] for one in texts], "fields": ["text"]}
    )
    return (
        lambda name, text, *_: store.put(("memories",), name, {"text": text}),
        lambda question: [item.key for item in store.search(("memories",), query=question, limit=_WANTED)],
    )


def _llamaindex(_: Path, vectors: Vectors, count: int) -> Peer:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import QueryBundle, TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    embedder = MockEmbedding(embed_dim=len(next(iter(vectors.values()))))
    index, nodes, fused = VectorStoreIndex([], embed_model=embedder), list[TextNode](), list[Any]()

    def add(name: str, text: str, *_: str) -> None:
        nodes.append(TextNode(id_=name, text=text, embedding=vectors[text]))
        index.insert_nodes(nodes[-1:])
        if len(nodes) == count:  # an index of words takes no additions
            words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=_WANTED)
            both = [index.as_retriever(similarity_top_k=_WANTED), words]
            options = {"mode": "reciprocal_rerank", "similarity_top_k": _WANTED, "num_queries": 1, "use_async": False}
            fused.append(QueryFusionRetriever(both, llm=MockLLM(), **options))

    def ask(question: str) -> list[str]:
        bundle = QueryBundle(question, embedding=vectors[question])
        return [one.node.node_id for one in fused[0].retrieve(bundle)]

    return add, ask


def _mem0(folder: Path, vectors: Vectors, _: int) -> Peer:
    os.environ |= {"MEM0_DIR": str(folder), "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
    from mem0 import Memory

    length, stripped = len(next(iter(vectors.values()))), {text.strip(): vector for text, vector in vectors.items()}
    settings = {"path": str(folder / "faiss"), "embedding_model_dims": length, "distance_strategy": "cosine"}
    store = {"vector_store": {"provider": "faiss", "config": settings}, "history_db_path": str(folder / "history.db")}
    memory = Memory.from_config(store)

    class Table:
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 - as mem0 calls it
            return stripped[text.strip()]

    memory.embedding_model = Table()

    def add(name: str, text: str, *_: str) -> None:
        memory.add([{"role": "user", "content": text}], user_id="somebody", metadata={"name": name}, infer=False)

    def ask(question: str) -> list[str]:
        found = memory.search(question, top_k=_WANTED, filters={"user_id": "somebody"}, threshold=0.0)
        return [one["metadata"]["name"] for one in found["results"]]

    return add, ask


def _neurogated(folder: Path, _: Vectors, __: int) -> Peer:
    from benchmarks.said import NOW, USER
    from neurogated import MemoryConfig, NeuroGraphMemory
    from neurogated.session.compose import build

    config = MemoryConfig(save_dir=str(folder))
    parts, ids = build(config), dict[str, str]()
    embed = parts.embedder.embed_documents

    def timed(texts: Sequence[str]) -> Any:  # noqa: ANN401
        begin = time.process_time()
        vectors = embed(texts)
        _EMBEDDING[0] += time.process_time() - begin
        return vectors

    parts.embedder.embed_documents = timed  # type: ignore[method-assign]
    memory = NeuroGraphMemory(config, parts=parts)
    _OPEN.append(memory)

    def add(name: str, text: str, role: str, at: str) -> None:
        day, _, hour = at.partition(" ")
        when = f"{day}T{hour or '09:00'}:00Z"
        added = memory.add({"role": role, "content": text}, user_id=USER, session_id=day, timestamp=when)
        ids.update(dict.fromkeys(added, name))

    return add, lambda asked: [ids[one.id] for one in memory.recall(asked, user_id=USER, top_n=_WANTED, now=NOW)]


def _txtai(_: Path, vectors: Vectors, __: int) -> Peer:
    from txtai import Embeddings

    memory = Embeddings(
        method="external", transform=lambda texts: np.array([vectors[one] for one in texts], np.float32), hybrid=True
    )
    return (
        lambda name, text, *_: memory.upsert([(name, text)]),
        lambda question: [name for name, _ in memory.search(question, _WANTED)],
    )


PEERS = {name: globals()[f"_{name}"] for name in (_OURS, *_PINS)}


if __name__ == "__main__":
    main()
