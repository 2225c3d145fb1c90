import hashlib

from hypothesis import given
from hypothesis import strategies as st

from neurogated import compute_mdhash_id


@given(
    content=st.text(alphabet=st.characters(exclude_categories=["Cs"])), prefix=st.sampled_from(["", "doc-", "chunk-"])
)
def test_an_id_is_the_prefix_and_the_md5_of_the_utf8_text(content: str, prefix: str) -> None:
    expected = hashlib.md5(content.encode("utf-8"), usedforsecurity=False).hexdigest()

    assert compute_mdhash_id(content, prefix) == prefix + expected
