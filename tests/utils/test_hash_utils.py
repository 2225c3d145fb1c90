import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import compute_mdhash_id


@given(
    content=st.text(alphabet=st.characters(exclude_categories=["Cs"])), prefix=st.sampled_from(["", "doc-", "chunk-"])
)
def test_an_id_is_the_prefix_and_the_md5_of_the_utf8_text(content: str, prefix: str) -> None:
    expected = hashlib.md5(content.encode("utf-8"), usedforsecurity=False).hexdigest()

    assert compute_mdhash_id(content, prefix) == prefix + expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # Test vectors of RFC 1321, independent of the library that computes the hash.
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    ],
)
def test_published_md5_values_are_reproduced(content: str, expected: str) -> None:
    assert compute_mdhash_id(content) == expected
    assert compute_mdhash_id(content, prefix="doc-") == f"doc-{expected}"
