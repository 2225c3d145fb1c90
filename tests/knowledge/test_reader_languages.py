"""What is read from sentences in five languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neurogated.core.claims import USER, Change, Claim, Slot
from neurogated.knowledge.read import OfflineClaimReader


class SaidReader(OfflineClaimReader):
    """Reads what texts say, and not what they take for granted."""

    def read(self, text: str, said: datetime | None = None, speaker: str | None = None) -> tuple[Claim, ...]:
        """Return the claims."""
        return tuple(claim for claim in super().read(text, said, speaker) if not claim.is_implied)


READER = SaidReader()
SAID = datetime(2026, 11, 24, 12, tzinfo=UTC)
_SAME = {
    "home": ("I live in Ghent.", "我住在根特。", "Ich wohne in Gent.", "J'habite à Gand.", "Vivo en Gante."),
    "moved": (
        "I moved to Ghent.",
        "我搬到了根特。",
        "Ich bin nach Gent gezogen.",
        "J'ai déménagé à Gand.",
        "Me he mudado a Gante.",
    ),
    "left": (
        "I no longer live in Ghent.",
        "我不再住在根特。",
        "Ich wohne nicht mehr in Gent.",
        "Je n'habite plus à Gand.",
        "Ya no vivo en Gante.",
    ),
    "before": (
        "I used to live in Ghent.",
        "我以前住在根特。",
        "Früher habe ich in Gent gewohnt.",
        "Avant, j'habitais à Gand.",
        "Antes vivía en Gante.",
    ),
    "allergy": (
        "I'm allergic to nuts.",
        "我对坚果过敏。",
        "Ich bin allergisch gegen Nüsse.",
        "Je suis allergique aux noix.",
        "Soy alérgica a las nueces.",
    ),
    "partner": (
        "My wife is called Ada.",
        "我的妻子叫Ada。",
        "Meine Frau heißt Ada.",
        "Ma femme s'appelle Ada.",
        "Mi mujer se llama Ada.",
    ),
}
"""The same claim in English, Chinese, German, French and Spanish."""


def _shape(claims: object) -> list[tuple[Slot, bool, bool, Change | None]]:
    assert isinstance(claims, tuple)
    return [(claim.slot, claim.is_denied, claim.is_past, claim.change) for claim in claims if isinstance(claim, Claim)]


@pytest.mark.parametrize("texts", _SAME.values(), ids=_SAME.keys())
def test_the_same_claim_has_the_same_slot_in_each_language(texts: tuple[str, ...]) -> None:
    english, *others = [_shape(READER.read(text, SAID)) for text in texts]
    assert len(english) == 1
    assert others == [english] * 4


@pytest.mark.parametrize(
    ("text", "wrapped"),
    [
        ("Ich arbeite bei Siemens.", "Hallo! Übrigens, ich arbeite bei Siemens, danke!"),
        ("Ich arbeite bei Siemens.", "Ach ja, ich arbeite bei Siemens haha"),
        ("Je travaille chez Renault.", "Salut ! Au fait, je travaille chez Renault, merci !"),
        ("Je travaille chez Renault.", "Pour info : je travaille chez Renault mdr"),
        ("Trabajo para Iberia.", "¡Hola! Por cierto, trabajo para Iberia, ¡gracias!"),
        ("Trabajo para Iberia.", "Pues trabajo para Iberia jaja"),
        ("Ich arbeite bei Siemens.", "Falls es hilft: keine Ahnung, ob das passt, aber ich arbeite bei Siemens."),
        ("Je travaille chez Renault.", "(Je travaille chez Renault.)"),
        ("Trabajo para Iberia.", "No sé si sirve, pero trabajo para Iberia."),
    ],
)
def test_courtesies_change_nothing(text: str, wrapped: str) -> None:
    [claim], [other] = READER.read(text, SAID), READER.read(wrapped, SAID)
    assert (claim.slot, claim.value) == (other.slot, other.value) == (Slot(USER, "employer"), claim.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Seit Juni wohne ich in Antwerpen.", "Antwerpen"),
        ("Ich ziehe nach Gent um.", "Gent"),
        ("Ich wohne im Schwarzwald.", "Schwarzwald"),
        ("Ich bin müde, weil ich in Gent wohne.", "Gent"),
        ("Nous nous sommes installés à Nantes.", "Nantes"),
        ("Ahora vivimos en Bilbao.", "Bilbao"),
        ("Nos hemos mudado a Vigo.", "Vigo"),
    ],
)
def test_a_verb_is_read_wherever_its_language_puts_it(text: str, value: str) -> None:
    [claim] = READER.read(text, SAID)
    assert (claim.slot, claim.value) == (Slot(USER, "home"), value)


def test_a_time_tells_when_a_value_began() -> None:
    texts = (
        "Seit Juni 2020 wohne ich in Ulm.",
        "J'habite à Ulm depuis juin 2020.",
        "Vivo en Ulm desde junio de 2020.",
    )
    assert [READER.read(text, SAID)[0].valid_from for text in texts] == [datetime(2020, 6, 1, tzinfo=UTC)] * 3


def test_the_form_of_a_verb_names_its_subject() -> None:
    claims = READER.read("Mi hermana Ana está bien. Vive en Toledo, pero trabajo en Vigo.", SAID)
    assert [(claim.slot.subject, claim.slot.attribute) for claim in claims][-1] == (USER, "workplace")
    assert not READER.read("Vive en Toledo.", SAID)


@pytest.mark.parametrize(
    ("text", "attribute", "value", "is_denied"),
    [
        ("Ich mag Käse überhaupt nicht.", "like", "Käse", True),
        ("Fleisch esse ich nicht mehr.", "food", "Fleisch", True),
        ("Ich habe am 24.12. Geburtstag.", "birthday", "24.12.", False),
        ("Je ne mange plus de viande.", "food", "viande", True),
        ("Mon chef, c'est Antoine.", "manager", "Antoine", False),
        ("Ça fait cinq ans que je vis à Bruxelles.", "home", "Bruxelles", False),
        ("No me gusta el queso.", "like", "queso", True),
        ("Vivo en un pueblo cerca de Segovia.", "home", "Segovia", False),
        ("mein Termin beim Augenarzt ist am 2. Juni", "appointment", "2. Juni", False),
        ("J'ai arrêté de fumer il y a un mois.", "habit", "fumer", True),
        ("Dejé de fumar, por si acaso.", "habit", "fumar", True),
    ],
)
def test_small_words_are_no_part_of_a_value(text: str, attribute: str, value: str, *, is_denied: bool) -> None:
    [claim] = READER.read(text, SAID)
    assert (claim.slot, claim.value, claim.is_denied) == (Slot(USER, attribute), value, is_denied)


@pytest.mark.parametrize(
    "text",
    [
        "Me gusta cómo lo explicas.",
        "Mi primo quiere vivir en Miami.",
        "Mon cousin veut vivre à Miami.",
        "Wenn ich in Paris wohnen würde, wäre ich froh.",
        "Mein Kollege meint, ich wohne in Ulm.",
        "Si j'habitais à Rome, je serais heureux.",
        "Mon collègue dit que j'habite à Metz.",
        "Si viviera en Roma, sería feliz.",
        "Mi compañero dice que vivo en León.",
        "Wohne ich in Ulm?",
        "Est-ce que j'habite à Metz ?",
        "¿Vivo en León?",
    ],
)
def test_what_is_asked_supposed_wished_or_said_by_others_is_no_claim(text: str) -> None:
    assert not READER.read(text, SAID)


@pytest.mark.parametrize(
    ("question", "attribute", "is_past"),
    [
        ("Wo wohne ich jetzt?", "home", False),
        ("Wo habe ich früher gewohnt?", "home", True),
        ("Wogegen bin ich allergisch?", "allergy", False),
        ("Où est-ce que j'habite maintenant ?", "home", False),
        ("Où j'habitais avant ?", "home", True),
        ("Quel est mon numéro de téléphone ?", "phone_number", False),
        ("¿Dónde vivo ahora?", "home", False),
        ("¿Dónde vivía antes?", "home", True),
        ("¿Cómo se llama mi mujer?", "partner", False),
        ("Als was arbeite ich?", "job", False),
        ("Weißt du noch, wo ich früher gearbeitet habe?", "employer", True),
        ("Avec qui suis-je marié ?", "partner", False),
        ("Tu te souviens où j'habite ?", "home", False),
        ("¿A qué soy alérgica?", "allergy", False),
        ("¿Cuánto pago de alquiler?", "rent", False),
    ],
)
def test_a_question_names_its_slot(question: str, attribute: str, *, is_past: bool) -> None:
    asked = READER.asked(question)
    assert asked is not None
    assert (asked.slots, asked.is_past) == ((Slot(USER, attribute),), is_past)


def test_each_sentence_has_a_language_of_its_own() -> None:
    claims = READER.read("Hi there! Ich wohne in Gent. Trabajo para Iberia. I live near La Roche-sur-Yon.", SAID)
    assert [claim.value for claim in claims] == ["Gent", "Iberia", "La Roche-sur-Yon"]


@pytest.mark.parametrize(
    ("text", "place", "job"),
    [
        ("我在上海做医生。", "上海", "医生"),
        ("我在美国当老师。", "美国", "老师"),
        ("I work in Shanghai as a doctor.", "Shanghai", "doctor"),
        ("Ich arbeite in Berlin als Ärztin.", "Berlin", "Ärztin"),
        ("Trabajo en Madrid como médica.", "Madrid", "médica"),
        ("Je travaille à Lyon comme médecin.", "Lyon", "médecin"),
    ],
)
def test_a_place_of_work_is_no_employer(text: str, place: str, job: str) -> None:
    claims = OfflineClaimReader().read(text)
    assert {(claim.slot.attribute, claim.value) for claim in claims} == {("workplace", place), ("job", job)}


@pytest.mark.parametrize(
    "text", ["He trabajado en Madrid.", "Empecé a trabajar en Madrid.", "Dejé mi trabajo en Madrid."]
)
def test_work_that_began_or_ended_in_a_place_has_no_employer(text: str) -> None:
    assert "employer" not in {claim.slot.attribute for claim in OfflineClaimReader().read(text)}


@pytest.mark.parametrize(
    ("text", "employer"),
    [
        ("我在腾讯做程序员。", "腾讯"),
        ("我在北京协和医院当医生。", "北京协和医院"),
        ("He trabajado en Telefónica.", "Telefónica"),
        ("I work for Nokia.", "Nokia"),
    ],
)
def test_what_is_not_known_as_a_place_or_is_worked_for_is_an_employer(text: str, employer: str) -> None:
    claims = OfflineClaimReader().read(text)
    assert employer in {claim.value for claim in claims if claim.slot.attribute == "employer"}


@pytest.mark.parametrize(
    "text", ["我住在上海\uff08浦东\uff09。", "I live in Shanghai (Pudong).", "我现在住在上海(浦东)。"]
)
def test_a_value_ends_before_a_bracket(text: str) -> None:
    (claim,) = OfflineClaimReader().read(text)
    assert claim.value in {"上海", "Shanghai"}


@pytest.mark.parametrize("text", ["家賃は月八万五千円です。", "発表会は七月です。", "妻の誕生日は九月三日。"])
def test_japanese_is_not_read_as_chinese(text: str) -> None:
    """Its Han characters would be matched by Chinese wordings, in the middle of words."""
    assert not READER.read(text)
    assert READER.asked(text) is None


def test_a_chinese_sentence_may_quote_japanese() -> None:
    """Hiragana between quotation marks says nothing of the language around."""
    (claim,) = READER.read("我最喜欢的电影是《となりのトトロ》。")
    assert claim.slot.attribute.startswith("favourite")


@pytest.mark.parametrize(
    "text",
    [
        "我把车洗了。",
        "我把自行车修好了。",
        "我把钥匙放在抽屉里了。",
        "我把书借给了小王。",
        "昨天我去了超市。",
        "我去了云南。",
    ],
)
def test_an_errand_ends_no_possession_and_begins_no_work(text: str) -> None:
    """What is handled stands after 把, and 去了 is "went to": only a verb of selling or working says more."""
    assert not [claim for claim in READER.read(text) if claim.slot.attribute in {"car", "possession", "employer"}]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("我把车卖了。", "car", "车"),
        ("我把电视卖掉了。", "possession", "电视"),
        ("我去了腾讯工作。", "employer", "腾讯"),
        ("我跳槽去了字节跳动。", "employer", "字节跳动"),
    ],
)
def test_what_is_sold_ends_and_work_somewhere_begins(text: str, attribute: str, value: str) -> None:
    """The same wordings with such a verb are read."""
    assert [(claim.slot.attribute, claim.value) for claim in READER.read(text)] == [(attribute, value)]


@pytest.mark.parametrize("text", ["我们在大理住了五天。", "我在大理待了一周。"])
def test_days_in_a_place_are_a_visit(text: str) -> None:
    """Years in a place are a home."""
    assert [(claim.slot.attribute, claim.value) for claim in READER.read(text)] == [("visited", "大理")]
    assert [claim.slot.attribute for claim in READER.read("我在上海住了五年。")] == ["home"]


@pytest.mark.parametrize("question", ["我家有几个孩子？", "我家谁做饭？", "我家的猫叫什么？"])
def test_a_question_about_a_household_asks_for_no_place(question: str) -> None:
    """A number may follow 生日 or 房租, but no place follows 家 without a verb."""
    asked = READER.asked(question)
    assert asked is None or Slot(USER, "home") not in asked.slots
    assert not [claim for claim in READER.read("我家三口人。") if claim.slot.attribute == "home"]
    assert READER.asked("我家在哪？") == READER.asked("我住在哪里？")


def test_the_last_time_of_a_list_belongs_to_the_value() -> None:
    """Without it, the value ends with "and"."""
    claims = READER.read("儿子的足球训练是每周三和周六下午四点。")
    assert [claim.value for claim in claims] == ["每周三和周六下午四点"]


def test_a_german_word_that_ends_with_m_is_no_height() -> None:
    """A unit without a space follows a digit."""
    assert not READER.read("Wir waren fünf Tage in Rom.")
    for text, value in (("Ich bin 1,80m.", "1,80m"), ("Ich bin 1,80 m.", "1,80 m"), ("Ich bin 180cm.", "180cm")):
        assert [(claim.slot.attribute, claim.value) for claim in READER.read(text)] == [("height", value)]
