"""A memory with a language model behind real HTTP: kernels, causes, names, answers, and failures."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryNode, NeuroGraphMemory, Recall
from neurogated.cli import main
from neurogated.ingestion.document import Document, Passage
from neurogated.session import compose
from tests.chat_handler import ChatHandler

ASKED_AT_ONCE = 20
# Long enough for the slowest machine. The test waits this long only if it fails.
PATIENCE = 30.0
# The model judges every question.
ALWAYS_ASKED = {"retrieval.kernels": "model"}
STORY = Document((Passage("The dam broke at dawn."), Passage("The fields lay under water.")), "Flood")


class _Answers(ChatHandler):
    """Plays a model that recognises three tasks by the words of their prompts, or a model that is down."""

    server: "Model"

    def answer(self, request: dict[str, Any]) -> None:
        self.server.requests.append(request)
        if self.server.together is not None:
            self.server.together.wait()
        if self.server.down:
            self.send(500, {"error": {"message": "out of order"}})
            return
        answer = self._answer(request["messages"][-1]["content"])
        text = f"<think>Let me see.</think>\n```json\n{json.dumps(answer)}\n```"
        self.say(text, usage={"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60})

    def _answer(self, asked: str) -> dict[str, Any]:
        if asked.startswith("Question: "):
            kind = "consequence" if "came of" in asked else "why"
            return {"kind": kind, "strength": "strong", "reason": f"asks for a {kind}"}
        if asked.startswith("Attributes:"):
            names = [{"message": 1, "names": ["dam", "not in the text"]}]
            return {"claims": [], "names": names, "causes": [{"cause": 1, "effect": 2, "strength": "medium"}]}
        return {"thought": "It is in the first passage.", "answer": self.server.said, "sources": [1, 9]}


class Model(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.down, self.said = False, "the dam"
        self.requests: list[dict[str, Any]] = []
        self.together: threading.Barrier | None = None
        """Answers wait for each other and for late calls."""


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def with_model(config: MemoryConfig, model: Model, monkeypatch: pytest.MonkeyPatch) -> MemoryConfig:
    monkeypatch.setattr(compose, "_KERNEL_SECONDS", PATIENCE)
    return config.replace(llm_base_url=f"http://127.0.0.1:{model.server_address[1]}/v1", **ALWAYS_ASKED)


def _causes(memory: NeuroGraphMemory) -> list[float]:
    return [edge.weight for edge in memory.store.all_edges() if edge.type is EdgeType.CAUSE]


def test_questions_wait_for_the_model_together_and_writes_go_on_meanwhile(
    with_model: MemoryConfig, model: Model
) -> None:
    questions = [f"Why were {number} fields under water?" for number in range(ASKED_AT_ONCE)]
    model.together = threading.Barrier(ASKED_AT_ONCE + 1, timeout=PATIENCE)

    async def ask(memory: NeuroGraphMemory) -> list[Recall]:
        def write() -> None:
            memory.store.apply(GraphDelta(nodes=(MemoryNode("new", "written while they wait"),)))
            assert model.together is not None
            model.together.wait()

        writing = asyncio.create_task(asyncio.to_thread(write))
        recalls = await asyncio.gather(*map(memory.aio.recall, questions))
        await writing
        return recalls

    with NeuroGraphMemory(with_model.replace(llm={"concurrency": ASKED_AT_ONCE})) as memory:
        memory.store.apply(GraphDelta(nodes=(MemoryNode("old", "Fields lay under water."),)))
        recalls = asyncio.run(ask(memory))
        assert [recall.query for recall in recalls] == questions
        assert all("asks for a why" in recall.kernel.justification for recall in recalls)
        # A batch also requests all its kernels at once.
        model.together = threading.Barrier(ASKED_AT_ONCE, timeout=PATIENCE)
        batch = memory.retrieve_batch([f"{question} Tell!" for question in questions])
        assert len(batch) == ASKED_AT_ONCE
        assert not any(recall.notes for recall in recalls)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("recall")]


def test_the_model_judges_questions_causes_and_names(with_model: MemoryConfig) -> None:
    with NeuroGraphMemory(with_model) as memory:
        ids = memory.add_documents([STORY])[0]
        assert memory.flush() == 0
        assert _causes(memory) == [0.7, 0.7]
        assert memory.store.get_node(ids[0]).found.entities == ("dam",)
        why = memory.recall("Why were the fields under water?").kernel
        consequence = memory.recall("What came of the broken dam?").kernel
        assert why[EdgeType.CAUSE] == 2.0
        assert "asks for a why" in why.justification
        assert why.weights != consequence.weights
        assert memory.admin.stats()["language model"]


def test_a_recall_asks_the_model_nothing_unless_a_setting_says_so(config: MemoryConfig, model: Model) -> None:
    address = f"http://127.0.0.1:{model.server_address[1]}/v1"
    with NeuroGraphMemory(config.replace(llm_base_url=address)) as memory:
        memory.add_documents([STORY])
        memory.recall("Why were the fields under water?")
        memory.get_context("What came of the broken dam?", token_budget=100)
    assert model.requests == []


@pytest.mark.parametrize("said", ["unknown", "Unknown.", "I don't know", "I don't know."])
def test_an_answer_that_nobody_knows_has_no_sources(config: MemoryConfig, model: Model, said: str) -> None:
    address = f"http://127.0.0.1:{model.server_address[1]}/v1"
    with NeuroGraphMemory(config.replace(llm_base_url=address)) as memory:
        memory.add_documents([STORY])
        recall = memory.recall("What broke at dawn?")
        assert memory.answer(recall).sources == (recall[0].id,)
        model.said = said
        answer = memory.answer(memory.recall("Who broke the dam at dawn?"))
    assert (answer, answer.sources) == ("I don't know", ())


def test_when_the_model_fails_a_question_is_judged_offline_and_the_recall_says_so(
    with_model: MemoryConfig, model: Model
) -> None:
    with NeuroGraphMemory(with_model) as memory:
        memory.add_documents([STORY])
        model.down = True
        recall = memory.recall("Why were the fields under water at noon?")
        assert len(recall) == 2
        assert recall.kernel[EdgeType.CAUSE] > 1
        assert "the language model failed" in recall.notes[0]


def test_judgements_that_fail_at_indexing_are_queued_and_resumed(
    with_model: MemoryConfig, model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    model.down = True
    with NeuroGraphMemory(with_model) as memory:
        memory.add_documents([STORY])
        assert memory.admin.stats()["nodes"] == 2
        assert memory.flush() == 2
    model.down = False
    words = ["index", "--resume", "--json"]
    for name in ("save_dir", "embedding_name", "llm_base_url"):
        words += [f"--{name}", str(getattr(with_model, name))]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == {"nodes": 2, "judged": 2, "pending": 0}
    with NeuroGraphMemory(with_model) as memory:
        assert _causes(memory) == [0.7, 0.7]


def test_a_budget_stops_cleanly_and_resume_judges_the_rest(with_model: MemoryConfig, model: Model) -> None:
    with NeuroGraphMemory(with_model.replace(llm={"budget": "1 calls"})) as memory:
        memory.recall("Why were the fields under water?")
        memory.add_documents([STORY])
        assert memory.flush() == 2
        assert memory.recall("What came of the broken dam?").notes
    assert len(model.requests) == 1
    with NeuroGraphMemory(with_model) as memory:
        assert memory.learning.resume() == (2, 0)
