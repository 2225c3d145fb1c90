"""Each guard finds its conflicts in several languages, and leaves pairs alone that only look like conflicts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import NeuroGraphMemory, RelationKind
from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import InputError
from neurogated.knowledge.judge import Content, PairJudge
from neurogated.text.words import words_of

CONTRADICTIONS = [
    # negation
    ("I eat meat.", "I don't eat meat."),
    ("Anna isn't preparing dinner for the guests.", "Anna is cooking dinner for the guests."),
    ("The company did not buy the factory.", "The company acquired the factory."),
    ("Alle kamen zur Feier.", "Niemand kam zur Feier."),
    ("El museo abre los lunes.", "El museo no abre los lunes."),
    ("我吃肉。", "我不吃肉。"),
    (
        "Nobody is jumping off the pier.",
        "A boy is jumping off the pier, and two girls are watching him from the beach.",
    ),
    ("There is no courier carrying a parcel up the stairs.", "A courier is hauling a big parcel up the stairs."),
    (
        "The barefoot man with a shirt is not near a shirtless boy.",
        "The barefoot man with a shirt is near a shirtless boy.",
    ),
    # opposites
    ("The cabin is near a lake.", "The cabin is far from a lake."),
    ("The soup is hot.", "The soup is cold."),
    ("Die Suppe ist heiß.", "Die Suppe ist kalt."),
    ("La tienda está abierta.", "La tienda está cerrada."),
    ("汤是热的。", "汤是冷的。"),
    # numbers
    ("My rent is 900 euros.", "My rent is 1,100 euros."),
    ("Nora hat zwei Brüder.", "Nora hat drei Brüder."),
    ("办公室有40张桌子。", "办公室有55张桌子。"),
    # dates
    ("Grandma was born in 1941.", "Grandma was born in 1943."),
    ("Die Abgabe ist am 4. Mai.", "Die Abgabe ist am 11. Mai."),
    ("截止日期是5月4日。", "截止日期是5月11日。"),
    # attributes with one value at a time
    ("Paul works for Siemens.", "Paul works for Bosch."),
    ("Ich wohne in Leipzig.", "Ich wohne in Dresden."),
    ("Vivo en Sevilla.", "Vivo en Cádiz."),
    ("我住在北京。", "我住在上海。"),
    ("The parcel's state is in storage.", "The parcel's state is delivered."),
    # roles
    ("Anna paid Ben for dinner.", "Ben paid Anna for dinner."),
    ("Google kaufte Fitbit.", "Fitbit kaufte Google."),
]
INDEPENDENT = [
    # several values
    ("Maria speaks Italian.", "Maria speaks Greek."),
    ("玛丽会说法语。", "玛丽会说德语。"),
    # the negation is of something else
    ("I eat meat.", "I don't eat fish."),
    ("Tom does not play the violin.", "Tom plays the cello."),
    ("I never drink coffee in the evening.", "I drink tea in the evening."),
    ("We are not painting the bedroom this summer.", "We are painting the kitchen this summer."),
    ("我吃肉。", "我不吃鱼。"),
    # numbers of different things, and denials of two opposites
    ("The parcel is 5 kg.", "The parcel is 3 m."),
    ("The soup is not hot.", "The soup is not cold."),
    # unknown persons and things
    ("The man is not eating a banana by a tree.", "A man is eating a banana."),
    ("The waiter isn't wearing a silk tie.", "A waiter is wearing a tie."),
    ("There are no direct flights to Oslo.", "There are direct trains to Oslo."),
    ("There is no dog in our house.", "There is a cat in our house."),
    ("None of my friends play tennis.", "One of my friends plays golf."),
    ("There is no parking at the office.", "There is a bakery at the office."),
    ("A man is sitting on a bench.", "A man is standing on a bench."),
    ("A group of tourists is in a museum.", "A group of tourists is in a harbour."),
    # several groups, and a wording whose likeness names another attribute
    ("Ines is in the swimming club.", "Ines is in the drama club."),
    ("Omar is on the design team.", "Omar belongs to the support team."),
    ("The contract is governed by Dutch law.", "The contract is governed by Greek law."),
    ("Borealis operates in Norway.", "Borealis operates in Chile."),
    # another subject
    ("Paul works for Siemens.", "Petra works for Bosch."),
    # another time
    ("In 2019 the team had 5 members.", "In 2020 the team had 9 members."),
    ("Am Montag war ich schwimmen.", "Am Donnerstag war ich schwimmen."),
    # another person's opinion
    ("Anna thinks the film is great.", "Ben thinks the film is terrible."),
    ("Según Tomás la tienda está abierta.", "Según Lisa la tienda está cerrada."),
    ("小李说猫很聪明。", "小陈说猫很笨。"),
    # asked, supposed, wished, joked
    ("Do you live in Paris?", "I don't live in Paris."),
    ("Wenn ich gewinnen würde, würde ich in Monaco wohnen.", "Ich wohne in Hof."),
    ("Ojalá tuviera un perro.", "No tengo perro."),
    ("开玩笑的，我有100只猫！", "我有两只猫。"),
]
IN_OTHER_WORDS = [
    ("Das Auto kostet 12.000 Euro.", "Das Auto kostet 12000 €."),
    ("Our flat is on the third floor.", "Our flat is on the 3rd floor."),
    ("Yo trabajo en Cádiz.", "Trabajo en Cádiz."),
    ("The trip is 5 km long.", "The trip is 5000 m long."),
    ("The wedding is on 2024-06-01.", "The wedding is on June 1, 2024."),
    ("Anna paid Ben.", "Ben was paid by Anna."),
    ("The shop is not open.", "The shop is closed."),
    ("Lena's street name is Elm Street.", "The name of street of Lena is Elm Street."),
    ("Wir haben zwei Kinder.", "Wir haben 2 Kinder."),
    ("我们有两个孩子。", "我们有2个孩子。"),
]
REFINEMENTS = [
    ("Lena has a dog.", "Lena has a small brown dog."),
    ("I live in Germany.", "I live in Hamburg, Germany."),
    ("The budget is more than 10,000 dollars.", "The budget is 12,500 dollars."),
    ("Wir sind 2020 umgezogen.", "Wir sind im September 2020 umgezogen."),
    ("我住在中国。", "我住在中国北京。"),
]
SUPERSESSIONS: list[tuple[Content, Content]] = [
    ("I used to live in Rome.", "I live in Milan now."),
    ("From 2015 to 2018 Kim lived in Seoul.", "Since 2018 Kim has lived in Busan."),
    ("Antes vivía en Roma.", "Ahora vivo en Milán."),
    ({"content": "I smoke.", "timestamp": "2020-05-05"}, {"content": "I no longer smoke.", "timestamp": "2024-05-05"}),
]


def fact(subject: str, attribute: str, value: str, **times: str) -> dict[str, str]:
    return {"subject": subject, "attribute": attribute, "value": value, **times}


@pytest.mark.parametrize(("first", "second"), CONTRADICTIONS)
def test_a_contradiction_is_found_in_both_orders(judge: PairJudge, first: str, second: str) -> None:
    for pair in ((first, second), (second, first)):
        relation = judge.compare(*pair)
        assert relation.kind is RelationKind.CONTRADICTION, relation.reason
        assert relation.outcome == "contested"
        assert relation.reason.endswith(".")


@pytest.mark.parametrize(("first", "second"), INDEPENDENT)
def test_statements_that_can_both_be_true_are_independent_in_both_orders(
    judge: PairJudge, first: str, second: str
) -> None:
    for pair in ((first, second), (second, first)):
        relation = judge.compare(*pair)
        assert relation.kind is RelationKind.INDEPENDENT, relation.reason


@pytest.mark.parametrize(("first", "second"), IN_OTHER_WORDS)
def test_the_same_in_other_words_or_units_is_no_conflict_and_no_duplicate(
    judge: PairJudge, first: str, second: str
) -> None:
    for pair in ((first, second), (second, first)):
        assert judge.compare(*pair).kind in {RelationKind.INDEPENDENT, RelationKind.REFINEMENT}


@pytest.mark.parametrize(("first", "second"), REFINEMENTS)
def test_the_same_in_more_detail_is_a_refinement(judge: PairJudge, first: str, second: str) -> None:
    assert judge.compare(first, second).kind is RelationKind.REFINEMENT


@pytest.mark.parametrize(("first", "second"), SUPERSESSIONS)
def test_another_value_at_another_time_supersedes(judge: PairJudge, first: Content, second: Content) -> None:
    assert judge.compare(first, second).kind is RelationKind.SUPERSESSION


def test_facts_are_compared_by_subject_attribute_value_and_time(judge: PairJudge) -> None:
    home = fact("Ann", "lives in", "Rome")
    assert judge.compare(home, fact("Ann", "resides in", "Rome")).kind is RelationKind.INDEPENDENT
    assert judge.compare(home, fact("Ann", "lives in", "Oslo")).kind is RelationKind.CONTRADICTION
    assert judge.compare(home, fact("Ben", "lives in", "Oslo")).kind is RelationKind.INDEPENDENT
    assert judge.compare(home, fact("Ann", "speaks", "Norwegian")).kind is RelationKind.INDEPENDENT
    assert judge.compare(fact("Ann", "lives in", "Italy"), home).kind is RelationKind.REFINEMENT
    past = fact("Ann", "lives in", "Oslo", valid_from="2019-01-01", valid_to="2021-01-01")
    present = fact("Ann", "lives in", "Rome", valid_from="2021-01-01")
    assert judge.compare(past, present).kind is RelationKind.SUPERSESSION


def test_a_conflict_in_one_sentence_of_many_is_found(judge: PairJudge) -> None:
    long = "Hello there. I had a lovely day at the lake. My sister lives in Leeds."
    assert judge.compare(long, "My sister lives in York.").is_conflict


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My PIN is 0042.", "My PIN is 42."),
        ("It was -5 degrees.", "It was 5 degrees."),
        ("We use v1.10.", "We use v1.1."),
        ("The version is 1.100.", "The version is 1.1."),
        (fact("Ann", "code", "0042"), fact("Ann", "code", "42")),
    ],
)
def test_codes_signs_and_versions_that_differ_are_no_duplicates(
    judge: PairJudge, first: Content, second: Content
) -> None:
    assert judge.compare(first, second).kind is not RelationKind.DUPLICATE
    assert judge.compare(first, first).kind is RelationKind.DUPLICATE


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_are_judged_and_equal_texts_never_conflict(first: str, second: str) -> None:
    judge = PairJudge()
    judge.compare(first, second)
    assert not judge.compare(first, first).is_conflict


WORDS = st.sampled_from(sorted(words_of("Anna Ben Rome the a cat dog not lives in on Monday 3 5 km paid red is")))


TEXTS = st.lists(WORDS, min_size=1, max_size=7, unique=True).map(" ".join)


@given(TEXTS, TEXTS)
def test_whether_two_texts_conflict_does_not_depend_on_their_order(first: str, second: str) -> None:
    judge = PairJudge()
    assert judge.compare(first, second).is_conflict == judge.compare(second, first).is_conflict


@pytest.mark.parametrize("broken", [{"subject": "Ann"}, fact("Ann", "lives in", "Rome", timestamp="soon")])
def test_a_fact_that_cannot_be_read_is_refused(judge: PairJudge, broken: dict[str, str]) -> None:
    with pytest.raises(InputError):
        judge.compare(broken, "Ann lives in Rome.")


def test_a_memory_compares_and_stores_nothing() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        relation = memory.conflicts.compare("I live in Leeds.", "I live in York.")
        assert relation.kind is RelationKind.CONTRADICTION
        assert memory.store.history() == []
