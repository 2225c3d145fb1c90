from collections.abc import Iterator

import pytest

from tests.served import Servers


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Servers(tmp_path_factory.mktemp("served")) as found:
        yield found
