"""Who says a text: roles, names before a colon, and that nobody is shown as a speaker who is not named as one."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import Document, MemoryConfig, NeuroGraphMemory, Passage
from neurogated.core.rendering import render, search_text
from neurogated.errors import InputError
from neurogated.ingestion.document import labelled_speaker, spoken_parts
from tests.golden import rows


@pytest.mark.parametrize(
    ("text", "speaker"),
    rows(__file__, "labels"),
)
def test_a_name_before_a_colon_is_a_label(text: str, speaker: str | None) -> None:
    assert labelled_speaker(text) == speaker


def memory(**settings: object) -> NeuroGraphMemory:
    return NeuroGraphMemory(MemoryConfig.from_mapping({"storage": "memory", "embedding_name": "hash", **settings}))


LABELLED = ["Noted: Priya for firmware.", "Done: 17-23 November.", "TODO: call mum", "Admin: the user has agreed."]


@pytest.mark.parametrize("role", [None, "user", "assistant", "tool"])
@pytest.mark.parametrize("session_id", [None, "s"])
def test_a_word_before_a_colon_is_never_shown_as_the_speaker(role: str | None, session_id: str | None) -> None:
    with memory() as kept:
        kept.add(
            [{"role": role, "content": text} if role else text for text in LABELLED],
            user_id="ana",
            session_id=session_id,
        )
        nodes = kept.find(user_id="ana")
        assert [(node.speaker, node.role, node.content) for node in nodes] == [(None, role, text) for text in LABELLED]
        assert [render(node) for node in nodes] == LABELLED
        recall = kept.recall("What has the user agreed, and who is noted?", user_id="ana", top_n=9)
        context = kept.get_context("What has the user agreed?", user_id="ana").text
        for shown in (recall.as_text(), context):
            line = next(one for one in shown.splitlines() if one.endswith("the user has agreed."))
            assert re.match(rf"- {role} \(" if role else r"- \((undated|\d+ \w+ \d{4})\): Admin: ", line)


@pytest.mark.parametrize("role", ["system", "tool"])
def test_texts_of_no_person_have_no_label(role: str) -> None:
    with memory() as kept:
        (name,) = kept.add({"role": role, "content": "Ann: Hello."}, session_id="s")
        assert search_text(kept.get(name)) == "Ann: Hello."


TRANSCRIPT = "Minutes of 3 May\nAnn: Hello.\nHow are you?\nDr. Li\uff1aFine, thanks.\n"
SPEECHES = [(None, "Minutes of 3 May"), ("Ann", "Hello.\nHow are you?"), ("Dr. Li", "Fine, thanks.")]


@pytest.mark.parametrize("session_id", [None, "s"])
def test_a_text_names_its_speakers_if_the_caller_says_so(session_id: str | None) -> None:
    with memory() as kept:
        kept.add(TRANSCRIPT, user_id="a", session_id=session_id, speakers_in_text=True)
        kept.add_document(TRANSCRIPT, user_id="b", session_id=session_id, speakers_in_text=True)
        document = {"text": TRANSCRIPT, "user_id": "c", "session_id": session_id, "speakers_in_text": True}
        kept.add_documents([document], progress=False)
        for user in "abc":
            nodes = kept.find(user_id=user)
            assert [(node.speaker, node.content) for node in nodes] == SPEECHES
        # A message says who speaks, so its text is left alone.
        kept.add({"role": "user", "content": "Ann: Hello."}, user_id="d", session_id=session_id, speakers_in_text=True)
        assert [(node.speaker, node.content) for node in kept.find(user_id="d")] == [(None, "Ann: Hello.")]


@given(st.text())
def test_a_text_loses_nothing_but_the_names_of_its_speakers(text: str) -> None:
    parts = spoken_parts(text)
    words = "".join(f"{speaker or ''}{said}" for speaker, said in parts)
    assert "".join(filter(str.isalnum, words)) == "".join(filter(str.isalnum, text))
    assert all(said.strip() for _, said in parts)


ROLE_WORDS = [
    *((word, "user") for word in ("user", "Human", " USER ")),
    *((word, "assistant") for word in ("assistant", "AI", "model", "Bot")),
    *((word, "system") for word in ("system", "developer")),
    *((word, "tool") for word in ("tool", "function")),
]


@pytest.mark.parametrize(("word", "role"), ROLE_WORDS)
def test_a_word_for_a_role_is_stored_as_the_role(word: str, role: str) -> None:
    with memory() as kept:
        kept.add({"role": word, "content": "Hello."}, session_id="s")
        kept.add_documents([Document((Passage("Hello.", role=word),))], progress=False)
        assert [node.role for node in kept.store.all_nodes()] == [role, role]


@pytest.mark.parametrize("word", ["customer", "users", "", "humans"])
def test_an_unknown_role_is_refused_and_the_known_ones_are_named(word: str) -> None:
    with memory() as kept:
        with pytest.raises(InputError, match=r"content 2: the role '.*' is unknown; known are user, human → user; "):
            kept.add([" ", {"role": word, "content": "Hi."}], session_id="s")
        with pytest.raises(InputError, match="is unknown"):
            Passage("Hi.", role=word)
        assert kept.count() == 0


def test_a_role_map_says_what_further_roles_are() -> None:
    with memory() as kept:
        said: list[dict[str, Any]] = [
            {"role": "Customer", "content": "My parcel is late."},
            {"role": "clerk", "content": "I am sorry."},
            {"role": "user", "content": "Thank you."},
        ]
        kept.add(said, session_id="s", role_map={"customer": "user", "Clerk": "AI"})
        assert [node.role for node in kept.find(order_by="position")] == ["user", "assistant", "user"]
        for wrong in ({"customer": "buyer"}, ["customer"], {1: "user"}):
            with pytest.raises(InputError, match="role"):
                kept.add(said, session_id="s", role_map=wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="only messages have roles"):
            kept.add_document("A text.", role_map={"customer": "user"})
