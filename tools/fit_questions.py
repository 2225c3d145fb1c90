"""Fit the judge of questions to the examples of the package, with the vectors of the bundled embedder.

    python tools/fit_questions.py

It writes `src/neurogated/retrieval/question_kinds.npz`. Run it after a change of the examples, of the cues or of the
embedder; without it, every new memory fits the judge again on its first recall.
"""

from pathlib import Path

from neurogated import MemoryConfig
from neurogated.compose import build_text_embedder
from neurogated.retrieval.question_kinds import FITTED, load_examples
from neurogated.retrieval.question_learning import learn

OUT = Path(__file__).parent.parent / "src/neurogated/retrieval" / FITTED


def main() -> None:
    """Fit and write."""
    embedder = build_text_embedder(MemoryConfig())
    learn(load_examples(), embedder).save(OUT, embedder.name)
    embedder.close()
    print(f"{OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
