import sys

import pytest

from neurogated.core.extras import import_extra
from neurogated.errors import MissingExtraError


def test_a_package_that_is_there_is_returned() -> None:
    assert import_extra("json.decoder", "redis") is sys.modules["json.decoder"]


def test_an_error_names_the_missing_package_and_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "absent", None)

    with pytest.raises(MissingExtraError, match=r"'absent' is not installed; pip install 'neurogated\[redis\]'$"):
        import_extra("absent.part", "redis")


def test_the_package_that_a_module_of_ours_misses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    monkeypatch.delitem(sys.modules, "neurogated.projections.fact_table", raising=False)

    with pytest.raises(MissingExtraError, match="package 'sqlalchemy' is not installed"):
        import_extra("neurogated.projections.fact_table", "facts")
