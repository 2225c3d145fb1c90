import pytest

from neurogated.config.groups import EmbeddingSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder
from neurogated.embedding.bundled_model import BundledEmbedder
from neurogated.embedding.openai_embedder import OpenAIEmbedder
from neurogated.embedding.registry import HashEmbedder, build_embedder
from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

SERVER = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("config", "kind", "name"),
    [
        (MemoryConfig(embedding_name="hash"), HashEmbedder, "hash-256"),
        # The error for another embedder than that of a memory names this one.
        (MemoryConfig(embedding_name="hash-256"), HashEmbedder, "hash-256"),
        (MemoryConfig(), BundledEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding=EmbeddingSettings(backend="openvino")), BundledEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding=EmbeddingSettings(backend="torch")), SentenceTransformersEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding_name="sentence-transformers/all-MiniLM-L6-v2"), BundledEmbedder, "all-MiniLM-L6-v2"),
        (MemoryConfig(embedding_name="nvidia/NV-Embed-v2"), SentenceTransformersEmbedder, "nvidia/NV-Embed-v2"),
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
