"""Texts that are shown must not give a password away."""

import pytest

from neurogated.text.strings import without_passwords


@pytest.mark.parametrize("password", ["secret", "se@cret", "se:cret", "%2Fsecret"])
def test_no_part_of_a_password_in_a_url_is_shown(password: str) -> None:
    shown = without_passwords(
        f"cannot reach bolt://ana:{password}@host:7687/db, postgresql://host/db?password={password}"
    )
    assert "cret" not in shown
    assert "ana" in shown
    assert "@host:7687/db" in shown
