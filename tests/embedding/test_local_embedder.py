import errno
import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from neurogated.embedding.bundled_model import BUNDLED_MODEL
from neurogated.embedding.export_cache import ExportCache
from neurogated.embedding.local_embedder import LocalEmbedder
from neurogated.embedding.onnx_runtime import OnnxRuntime
from neurogated.embedding.openvino_runtime import OpenVINORuntime
from neurogated.embedding.runtimes import SINGLE, ExportError
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder
from neurogated.errors import EmbeddingError

TEXTS = [
    "The surgeon operated on the patient.",
    "我愛你。",
    "",
    "x",
    "A doctor treated a sick man in the hospital. " * 100,
    "El gato duerme.",
    "A doctor treated a sick man in the hospital. " * 8,
    " \n",
    "Stock prices fell on Monday.",
    "!?",
]
BACKENDS = ("openvino", "onnx")
QUIET = """
import sys
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.registry import build_embedder
where, model = sys.argv[1:]
settings = {"embedding_name": model, "embedding.export_dir": where, "embedding.devices": "cpu"}
embedder = build_embedder(MemoryConfig.from_mapping(settings))
print(embedder.embed_documents(["a text"]).shape, embedder.embed_queries(["why"]).shape)
unwanted = {"torch", "transformers", "sentence_transformers", "openvino_telemetry"}
print(sorted(unwanted & set(sys.modules)))
"""


def build(
    folder: Path,
    model: str,
    backend: str = "auto",
    *,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    exact: bool = False,
) -> LocalEmbedder:
    by_torch = SentenceTransformersEmbedder(
        model, batch_size=32, query_prompt=query_prompt, document_prompt=document_prompt
    )
    return LocalEmbedder(by_torch, ExportCache(folder, batch_size=3, exact=exact), backend, on_cpu=True)


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the export of the tiny model by each runtime. A test makes the export when it needs it."""
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="module")
def by_torch() -> Iterator[SentenceTransformersEmbedder]:
    embedder = SentenceTransformersEmbedder(BUNDLED_MODEL, batch_size=32)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def tiny_by_torch(tiny_model: str) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(tiny_model, batch_size=32)


@pytest.fixture(scope="module", params=BACKENDS)
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEmbedder]:
    embedder = build(tmp_path_factory.mktemp("bundled"), BUNDLED_MODEL, request.param)
    yield embedder
    embedder.close()


@pytest.fixture(scope="module", params=BACKENDS)
def tiny_embedder(request: pytest.FixtureRequest, exports: Path, tiny_model: str) -> Iterator[LocalEmbedder]:
    embedder = build(exports, tiny_model, request.param)
    yield embedder
    embedder.close()


@pytest.fixture
def no_export(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every runtime finds a part of the model that it cannot export."""

    def refuse(*_: object) -> None:
        raise ExportError("there is a part")

    for runtime in (OpenVINORuntime, OnnxRuntime):
        monkeypatch.setattr(runtime, "export", refuse)


@pytest.mark.slow
def test_every_text_has_the_vector_that_torch_gives_it(
    embedder: LocalEmbedder, by_torch: SentenceTransformersEmbedder
) -> None:
    assert embedder.dimension == by_torch.dimension
    assert embedder.name == by_torch.name
    for ours, expected in (
        (embedder.embed_documents(TEXTS), by_torch.embed_documents(TEXTS)),
        (embedder.embed_queries(TEXTS), by_torch.embed_queries(TEXTS)),
    ):
        assert ours.dtype == np.float32
        assert (ours * expected).sum(axis=1).min() >= 0.999


def test_a_text_has_the_same_vector_in_every_batch(tiny_embedder: LocalEmbedder) -> None:
    together = tiny_embedder.embed_documents(TEXTS)
    alone = np.concatenate([tiny_embedder.embed_documents([text]) for text in TEXTS])

    # If half precision rounds by other blocks than ours.
    tolerance = 1e-3 if OpenVINORuntime().precision() != SINGLE else 2e-6
    np.testing.assert_allclose(together, alone, atol=tolerance)
    np.testing.assert_allclose(tiny_embedder.embed_documents(TEXTS[::-1])[::-1], together, atol=tolerance)
    np.testing.assert_array_equal(tiny_embedder.embed_documents(TEXTS), together)


@pytest.mark.slow
def test_tokens_are_counted_as_torch_counts_them(
    embedder: LocalEmbedder, by_torch: SentenceTransformersEmbedder
) -> None:
    texts = [*TEXTS, "unbelievably " * 1000]

    assert embedder.count_tokens(texts) == by_torch.count_tokens(texts)
    assert embedder.count_tokens([]) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_prompt_stands_before_the_texts_of_its_role(backend: str, exports: Path, tiny_model: str) -> None:
    plain, prompted = (
        build(exports, tiny_model, backend),
        build(exports, tiny_model, backend, query_prompt="question: ", document_prompt="passage: "),
    )

    for ours, expected in (
        (prompted.embed_queries(["cats"]), plain.embed_queries(["question: cats"])),
        (prompted.embed_documents(["cats"]), plain.embed_documents(["passage: cats"])),
    ):
        np.testing.assert_allclose(ours, expected, atol=2e-6)


@pytest.mark.slow
def test_a_question_is_answered_before_a_long_call_is_through(embedder: LocalEmbedder) -> None:
    embedder.embed_queries(["ready"])
    done = threading.Event()

    def long_call() -> None:
        embedder.embed_documents([TEXTS[4]] * 60)
        done.set()

    thread = threading.Thread(target=long_call)
    thread.start()
    embedder.embed_queries(["why?"])
    answered_first = not done.is_set()
    thread.join()

    assert answered_first


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_model_is_exported_once(
    backend: str, exports: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: str
) -> None:
    build(exports, tiny_model, backend).embed_queries(["a"])
    kept = sorted(exports.iterdir())

    def fail(*_: object) -> None:
        raise AssertionError("the model was loaded again")

    monkeypatch.setattr(SentenceTransformersEmbedder, "model", fail)
    build(exports, tiny_model, backend).embed_queries(["a"])

    assert sorted(exports.iterdir()) == kept
    assert not list(exports.glob("draft-*"))


@pytest.mark.slow
def test_an_export_runs_without_torch_without_telemetry_and_quietly(exports: Path, tiny_model: str) -> None:
    build(exports, tiny_model, "openvino").embed_queries(["a"])
    answer = subprocess.run(
        [sys.executable, "-c", QUIET, str(exports), tiny_model], capture_output=True, text=True, check=True
    )

    assert answer.stdout == "(1, 16) (1, 16)\n[]\n"
    assert answer.stderr == ""


def change(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("model.bin", change),
        ("model.xml", Path.unlink),
        ("tokenizer.json", change),
        ("description.json", empty),
        ("description.json", Path.unlink),
    ],
)
def test_a_damaged_export_is_repeated(
    name: str,
    harm: Callable[[Path], object],
    exports: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    *,
    tiny_model: str,
) -> None:
    build(exports, tiny_model, "openvino").embed_queries(["a"])
    shutil.copytree(exports, tmp_path / "copy")
    (found,) = (tmp_path / "copy").glob(f"openvino-*/{name}")
    harm(found)
    sound = build(exports, tiny_model, "openvino")

    with caplog.at_level(logging.WARNING):
        vectors = build(tmp_path / "copy", tiny_model, "openvino").embed_documents(TEXTS[:2])

    assert "is damaged and will be exported again" in caplog.text
    np.testing.assert_allclose(vectors, sound.embed_documents(TEXTS[:2]), atol=2e-6)
    assert found.is_file()


def test_where_nothing_can_be_kept_the_model_runs_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, tiny_model: str
) -> None:
    (tmp_path / "file").write_text("no folder")
    embedder = build(tmp_path / "file" / "exports", tiny_model, "openvino")

    with caplog.at_level(logging.WARNING):
        assert embedder.embed_documents(["a"]).shape == (1, 16)

    assert "cannot be cached" in caplog.text
    embedder.close()


@pytest.mark.usefixtures("no_export")
def test_a_model_that_cannot_be_exported_runs_by_torch(
    tmp_path: Path, tiny_by_torch: SentenceTransformersEmbedder, caplog: pytest.LogCaptureFixture, tiny_model: str
) -> None:
    embedder = build(tmp_path, tiny_model)

    with caplog.at_level(logging.WARNING):
        vectors = embedder.embed_documents(TEXTS)

    assert embedder.backend == "torch"
    assert "cannot be run by openvino (there is a part)" in caplog.text
    np.testing.assert_allclose(vectors, tiny_by_torch.embed_documents(TEXTS), atol=2e-6)
    np.testing.assert_allclose(embedder.embed_queries(["a"]), tiny_by_torch.embed_queries(["a"]), atol=2e-6)
    assert embedder.count_tokens(TEXTS) == tiny_by_torch.count_tokens(TEXTS)
    assert embedder.dimension == 16
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "trouble", [OSError(errno.ENOSPC, "no space"), KeyError("part"), TypeError("part"), IndexError("part")]
)
def test_the_model_runs_after_any_failure_of_an_export(
    trouble: Exception,
    tmp_path: Path,
    tiny_model: str,
    tiny_by_torch: SentenceTransformersEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise trouble

    for runtime in (OpenVINORuntime, OnnxRuntime):
        monkeypatch.setattr(runtime, "export", fail)
    embedder = build(tmp_path, tiny_model)

    np.testing.assert_allclose(embedder.embed_queries(["a"]), tiny_by_torch.embed_queries(["a"]), atol=2e-6)
    assert embedder.backend == "torch"
    assert not list(tmp_path.iterdir())
    with pytest.raises((EmbeddingError, type(trouble))):
        build(tmp_path, tiny_model, "onnx").embed_queries(["a"])
    embedder.close()


def test_an_export_that_gives_other_vectors_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: str
) -> None:
    from neurogated.embedding.exported_model import ExportedModel

    right = ExportedModel.embed
    monkeypatch.setattr(ExportedModel, "embed", lambda *args: -right(*args))
    embedder = build(tmp_path, tiny_model, "openvino")

    with pytest.raises(EmbeddingError):
        embedder.embed_documents(["a"])
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.nightly
def test_processes_that_export_at_once_share_one_export_and_say_nothing(tmp_path: Path, tiny_model: str) -> None:
    program = [sys.executable, "-c", QUIET, str(tmp_path), tiny_model]
    both = [subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]

    for stdout, stderr in [process.communicate() for process in both]:
        assert stdout.startswith("(1, 16) (1, 16)\n")
        assert stderr == ""
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith("openvino-")
