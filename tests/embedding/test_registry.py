import pytest

from neurogated.config.groups import EmbeddingSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.embedding.local_embedder import LocalEmbedder
from neurogated.embedding.openai_embedder import OpenAIEmbedder
from neurogated.embedding.registry import build_embedder
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

SERVER = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("config", "kind", "name"),
    [
        (MemoryConfig(embedding_name="hash"), HashEmbedder, "hash-256"),
        (MemoryConfig(), LocalEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding=EmbeddingSettings(devices="cpu")), LocalEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding=EmbeddingSettings(backend="torch")), SentenceTransformersEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding=EmbeddingSettings(devices="cuda:0")), SentenceTransformersEmbedder, "all-MiniLM-L6-v2"),
        (
            MemoryConfig(embedding=EmbeddingSettings(devices="cpu,cpu")),
            SentenceTransformersEmbedder,
            "all-MiniLM-L6-v2",
        ),
        (
            MemoryConfig(embedding_name="sentence-transformers/all-MiniLM-L6-v2"),
            LocalEmbedder,
            "all-MiniLM-L6-v2",
        ),
        (
            MemoryConfig(embedding_name="nvidia/NV-Embed-v2"),
            LocalEmbedder,
            "nvidia/NV-Embed-v2",
        ),
        (MemoryConfig(embedding_name="openai:text-embedding-3-small"), OpenAIEmbedder, "openai:text-embedding-3-small"),
        (
            MemoryConfig(embedding_name="bge-m3", embedding=EmbeddingSettings(base_url=SERVER)),
            OpenAIEmbedder,
            "openai:bge-m3",
        ),
    ],
    ids=lambda value: value.embedding_name if isinstance(value, MemoryConfig) else "",
)
def test_the_name_decides_the_embedder(config: MemoryConfig, kind: type[Embedder], name: str) -> None:
    embedder = build_embedder(config, api_key="key")

    assert type(embedder) is kind
    assert embedder.name == name
    embedder.close()


def test_prompts_batch_size_and_trust_reach_a_model_of_ones_own() -> None:
    embedder = build_embedder(
        MemoryConfig(
            embedding_name="some/model",
            embedding=EmbeddingSettings(
                backend="torch", batch_size=7, query_prompt="q: ", document_prompt="d: ", trust_remote_code=True
            ),
        )
    )

    assert isinstance(embedder, SentenceTransformersEmbedder)
    assert (embedder._batch_size, embedder._trust_remote_code) == (7, True)
    assert embedder.name == "some/model query='q: ' document='d: '"
