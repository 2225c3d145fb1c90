"""The judge of pairs with the bundled embedder."""

from __future__ import annotations

import pytest

from neurogated.compose import build_text_embedder, load_config
from neurogated.conflict.judge import PairJudge


@pytest.fixture(scope="session")
def judge() -> PairJudge:
    return PairJudge(build_text_embedder(load_config()))
