"""Construction of an embedder by the name of its model."""

from __future__ import annotations

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder

_OPENAI_PREFIX = "openai:"
_HASH_NAMES = ("hash", "hash-256")
"""Names of the embedder without a model; the second is recorded in memories."""
MULTILINGUAL_NAMES = ("multilingual", "multilingual-e5-small")
"""Names of the model of the extra `multilingual`; the second is recorded in memories."""


def build_embedder(config: MemoryConfig, *, api_key: str | None = None, exact: bool = False) -> Embedder:
    """Return the embedder of `config.embedding_name`. This function imports the embedder's package.

    Args:
        config: settings of the model, its server and prompts.
        api_key: key of the server, if it needs one.
        exact: let OpenVINO compute in single precision, also where half precision is faster.
    """
    name = config.embedding_name
    if name in _HASH_NAMES:
        from neurogated.embedding.hash_embedder import HashEmbedder

        return HashEmbedder()
    if name in MULTILINGUAL_NAMES:
        from neurogated.embedding.multilingual_model import MultilingualEmbedder

        return MultilingualEmbedder(
            query_prompt=config.embedding.query_prompt,
            document_prompt=config.embedding.document_prompt,
            exact=exact,
        )
    if name.startswith(_OPENAI_PREFIX) or config.embedding.base_url:
        from neurogated.embedding.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(
            name.removeprefix(_OPENAI_PREFIX),
            api_key=api_key,
            base_url=config.embedding.base_url,
            batch_size=config.embedding.batch_size,
            query_prompt=config.embedding.query_prompt,
            document_prompt=config.embedding.document_prompt,
        )
    from neurogated.embedding.sentence_transformers_embedder import BUNDLED_NAMES, SentenceTransformersEmbedder

    backend = config.embedding.backend
    is_bundled = config.embedding_name in BUNDLED_NAMES
    by_graph = is_bundled and backend in ("openvino", "auto")
    by_library = SentenceTransformersEmbedder(
        config.embedding_name,
        batch_size=config.embedding.batch_size,
        query_prompt=config.embedding.query_prompt,
        document_prompt=config.embedding.document_prompt,
        trust_remote_code=config.embedding.trust_remote_code,
        backend="torch" if by_graph or backend == "auto" else backend,
    )
    if not by_graph:
        return by_library
    from neurogated.embedding.bundled_model import BundledEmbedder

    return BundledEmbedder(by_library, exact=exact, on_cpu=backend == "openvino")
