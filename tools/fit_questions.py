"""Fit the judge of questions to labelled examples, with the vectors of the bundled embedder.

    python tools/fit_questions.py

It writes `src/neurogated/retrieval/question_kinds.npz`, and prints how many of the questions in
`tools/questions_labelled.tsv`, which are not among the examples, the judge tells apart. Run it after a change of the
examples, of the cues or of the embedder.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from neurogated import MemoryConfig
from neurogated.core.judgements import QuestionKind
from neurogated.core.ports import Embedder
from neurogated.retrieval.kernel_generator import FITTED, FittedKinds, OfflineQuestionJudge, read_question
from neurogated.session.compose import build_text_embedder

FOLDER = Path(__file__).parent
OUT = FOLDER.parent / "src" / "neurogated" / "retrieval" / FITTED
# Weight of a cue relative to the length of a centred vector, and inverse regularisation of the regressions.
CUE_SCALE = 1.5
JOINT_FREEDOM = 0.5
MEANING_FREEDOM = 1.0
# Weight of each regression in their sum, chosen so that the mean strength is about the judge's accuracy.
SHARE = 0.75

Weights = tuple[NDArray[np.float64], NDArray[np.float64]]


def regression(features: NDArray[np.float64], labels: list[str], freedom: float) -> Weights:
    """Return weights (kinds, features) and biases (kinds,), kinds in alphabetical order."""
    model = LogisticRegression(C=freedom, max_iter=5000, tol=1e-6).fit(features, labels)
    return model.coef_, model.intercept_


def fit(examples: list[tuple[str, str]], embedder: Embedder) -> FittedKinds:
    """Fit one regression to vectors and cues and one to vectors alone, and return their sum; and one to cues alone.

    Nearly all examples have correct cues. So a regression with both hardly uses the vectors, and judges a question
    without cues as one for a fact.
    """
    texts, labels = [text for text, _ in examples], [label for _, label in examples]
    vectors = embedder.embed_queries(texts)
    mean = vectors.mean(axis=0)
    scale = 1 / float(np.linalg.norm(vectors - mean, axis=1).mean())
    meanings = ((vectors - mean) * scale).astype(np.float64)
    cues = np.stack([read_question(text).features for text in texts]).astype(np.float64) * CUE_SCALE
    weights, biases = regression(np.hstack([meanings, cues]), labels, JOINT_FREEDOM)
    alone, alone_biases = regression(meanings, labels, MEANING_FREEDOM)
    # The sum of two linear models is linear. Their mean would be as sure as each of them, but if both agree, the
    # judgement may be surer.
    weights = (weights + np.pad(alone, ((0, 0), (0, cues.shape[1])))) * SHARE
    weights[:, : meanings.shape[1]] *= scale
    weights[:, meanings.shape[1] :] *= CUE_SCALE
    by_cues, cue_biases = regression(cues, labels, MEANING_FREEDOM)
    arrays = (mean, weights, (biases + alone_biases) * SHARE, by_cues * CUE_SCALE, cue_biases)
    kinds = tuple(map(QuestionKind, sorted(set(labels))))
    return FittedKinds(embedder.name, kinds, *(array.astype(np.float32) for array in arrays))


def examples() -> list[tuple[str, str]]:
    """Return the questions to fit to, each with its kind."""
    kinds = json.loads((FOLDER / "question_examples.json").read_text(encoding="utf-8"))
    return [(question, kind) for kind, questions in kinds.items() for question in questions]


def main() -> None:
    """Fit, write, and print the accuracy on questions that the fit does not know."""
    embedder = build_text_embedder(MemoryConfig())
    fitted = fit(examples(), embedder)
    np.savez_compressed(OUT, **{**fitted._asdict(), "kinds": np.array([kind.value for kind in fitted.kinds])})
    print(f"{OUT.stat().st_size:,} bytes")
    judge = OfflineQuestionJudge(embedder)
    lines = (FOLDER / "questions_labelled.tsv").read_text(encoding="utf-8").splitlines()[1:]
    asked, right = Counter[str](), Counter[str]()
    for kind, language, question in (line.split("\t") for line in lines):
        asked[language] += 1
        right[language] += judge.judge(question).kind.value == kind
    for language, count in asked.items():
        print(f"{language}: {right[language]} of {count}")
    embedder.close()


if __name__ == "__main__":
    main()
