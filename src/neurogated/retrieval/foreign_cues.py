"""The patterns for cues of questions in German, French and Spanish; see `cue_patterns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neurogated.core.language import Language

__all__ = ["ASKING", "FOREIGN", "FOREIGN_HEADS"]

_GERMAN = r"""
= hide
\bdas nächste mal\b|\bnach wie vor\b|\bzum beispiel\b|\bso etwas wie\b
= why strong
\bwarum\b|\bwieso\b|\bweshalb\b|\bweswegen\b|\bworan (?:lag|liegt)\b|\bwodurch\b|\baus welche[mnr] (?:grund|gründen|
anlass)\b
\b(?:grund|gründe|ursachen?|auslöser|anlass|motiv) (?:für|dafür|hatte|war|waren|von|hinter|gab|der|des|dass)\b
\bwas (?:hat |war |ist )?(?:\w+ ){0,4}?(?:verursacht|verursachte|ausgelöst|veranlasst|bewogen|bewegte|bewog|brachte|
geführt)\b
\bwas (?:war|ist|waren) (?:die |der )?(?:\w+ )?(?:ursachen?|grund|gründe|auslöser)\b|\bwie kam es\b|\bwie kommt es\b|
\bwozu\b|\bzu welchem zweck\b|\bwer ist schuld\b|\bwas steckt(?:e)? hinter\b
= consequence strong
\bfolgen?\b(?! (?:auf|nach)\b)|\bauswirkung(?:en)?\b|\bkonsequenz(?:en)?\b|\bergebnis(?:se)?\b|\bwozu führte?\b|
\bwohin führte?\b
\bwas (?:passiert|geschieht|wäre|würde|wird|passierte|geschah)\b.{0,60}\b(?:wenn|falls|dadurch|deswegen)\b|
\bwas wurde aus\b
\bwie (?:hat|haben|wirkte?) .{0,80}(?:verändert|beeinflusst|ausgewirkt|aus)\b|\bwas bewirkte?\b|\bwas richtete\b|
\bwelche[ns]? schaden\b|
\bwelche wirkung\b|\bwie (?:ging|endete) .{0,60}\b(?:aus|ende)\b
= when strong
\bwann\b|\bum wie ?viel uhr\b|\bwie lange\b|\b(?:in|seit|bis|an|zu) welche[mrns]? (?:jahr|monat|tag|woche|zeit|
datum|jahrhundert|
uhrzeit|saison)\w*\b|\bwelche[rsn]? (?:tag|datum|jahr|monat|woche|uhrzeit|jahreszeit)\b|\bwie oft\b|\bwie (?:spät|
früh|bald)\b
\bwie viele (?:tage|wochen|monate|jahre|stunden|minuten)\b|\bvor oder nach\b|\bwer .{0,40}zuerst\b|\bgeburtstag\b|
\bam wievielten\b
= next strong
\bals nächstes\b|\bdanach\b|\bdaraufhin\b|\banschließend\b|\bnächste[rsn]? schritt\b|\bwie (?:ging|
geht) es .{0,40}weiter\b
\bwas (?:kam|kommt|folgte|folgt|geschah|passierte|tat|machte)\b.{0,60}\bnach(?:dem)?\b|^(?:nach|
nachdem)\b.{3,}\bwas\b|\bund dann\b
= like strong
\bähnlich\w*|\bähnel\w+|\bgleicht?\b|\bvergleich\w*|\bverglichen\b|\bgemeinsam\w*|\bunterschied\w*|
\bunterscheide\w*|\bworan erinnert\b
\berinner(?:t|te|n)\b.{1,60}\ban\b|\bgenauso\b|\bso \w+ wie\b|\bsieht .{1,40} aus wie\b|\bgegenstück\b|
\bwie (?:sonst|auch) noch\b|
\bentspricht\b|\bim vergleich zu\b
= fact strong
^\W*(?:wer|wen|wem|wessen|wo|wohin|woher)\b|\bwie ?viele?\b|\bwie (?:heißt|hieß|heißen|groß|hoch|schwer|alt|weit|
tief|breit|teuer)\b
\bwelche (?:farbe|sorte|art|marke|sprache|adresse|nummer)\b|^\W*(?:ist|sind|war|waren|hat|haben|hatte|kann|gibt|
wohnt|mag) \w+
= fact weak
\bwelche[mnrs]?\b|\bwas\b|\bworaus\b|\bwomit\b
"""
_FRENCH = r"""
= hide
\bpar exemple\b|\bla prochaine fois\b|\bc'est-à-dire\b
= why strong
\bpourquoi\b|\bpour quelles? raisons?\b|\bcomment se fait-il\b|\bà cause de quo?i\b|\bdans quel but\b|
\bà quoi (?:est|était) dû\b
\b(?:raisons?|causes?|motifs?|motivations?|origine)\b (?:de|du|des|d'|pour|qui|a|est|était|derrière)
\bqu'est-ce qui (?:a |ont )?(?:\w+ ){0,2}?(?:causé|provoqué|poussé|amené|entraîné|déclenché|motivé|incité|fait|
explique|empêche)\w*
\bquelles? (?:est|était|sont|étaient|fut) (?:la |le |les )?(?:\w+ )?(?:raisons?|causes?|motifs?)\b|
\bà qui la faute\b|\bgrâce à quoi\b
= consequence strong
\bconséquences?\b|\brésultats?\b|\beffets?\b|\bimpacts?\b|\brépercussions?\b|\bque se passe(?:ra)?(?:-t-il)? si\b|
\bqu'arrive(?:ra)?-t-il si\b
\bqu'est-ce que .{0,60}\b(?:a |ont )(?:\w+ )?(?:changé|provoqué|entraîné|causé)\b|\bà quoi .{0,60}\b(?:mené|conduit|
abouti)\b|
\bqu'est(?:-ce qu)?.{0,10}\b(?:devenue?s?|advenu)\b|\bquels dégâts\b|\bque s'est-il passé à cause\b|
\bcomment .{1,60}(?:affecté|influencé|
transformé)\w*|\bque (?:deviendra|deviendrait|ferait|changerait)\b
= when strong
\bquand\b|\bà quelle (?:heure|date|époque|période|saison)\b|\bdepuis (?:quand|combien de temps)\b|
\bcombien de (?:temps|jours|semaines|mois|
ans|années|heures|minutes)\b|\b(?:en|de) quelle année\b|\bquel (?:jour|mois|siècle|âge)\b|\bquelle (?:année|date|
semaine|saison)\b
\bavant ou après\b|\bà quel moment\b|\bjusqu'à quand\b|\ben quel(?:le)? (?:mois|année|saison|siècle)\b|
\bqui .{0,40}en premier\b|
\banniversaire\b
= next strong
\bensuite\b|\bpar la suite\b|\bet après\b|\bet puis\b|\bprochaine étape\b|\bétape suivante\b|\bqu(?:'est-ce que|'a|
e|oi)\b.{0,80}\baprès\b
^après\b.{3,}\bqu(?:'|e|oi)\b|\bla suite\b|\bque faire (?:après|ensuite|maintenant)\b|\bqui a succédé\b
= like strong
\bsimilaires?\b|\bressembl\w+|\bsemblables?\b|\bcompar\w+|\bpoints? communs?\b|\ben commun\b|\bdifférences?\b|
\bdiffèrent?\b|\bdiffère-t-|
\bcomme (?:celui|celle|ceux)\b|\brappelle\b.{1,60}|\bpareil\w*|\bmême (?:genre|type|sorte|façon)\b|\bidentiques?\b|
\béquivalent\w*|
\banalog\w+|\bautant que\b|\baussi \w+ que\b
= fact strong
^\W*(?:qui|où|à qui|de qui|avec qui|d'où|par où)\b|\bcombien\b|\bcomment s'appell\w+|\bquel(?:le)? (?:couleur|nom|
taille|marque|langue|adresse|
numéro|ville|pays|est le nom)\b|\boù (?:est|sont|se|habite|travaille|vit)\b|^\W*est-ce que?\b|^\W*\w+-(?:t-)?(?:il|
elle|ils|elles|tu|vous|on)\b
= fact weak
\bquel(?:le)?s?\b|\bqu'est-ce\b|\bquoi\b
"""
_SPANISH = r"""
= hide
\bpor ejemplo\b|\bla próxima vez\b|\ba la vez\b
= why strong
\bpor qué\b|\bporqué\b|\ba qué se deb(?:e|ió|ía)\b|\bpor cuál(?:es)? (?:razón|razones|motivos?)\b|\bcómo es que\b|
\bdebido a qué\b|\bpara qué\b
\b(?:razón|razones|causas?|motivos?)\b (?:de|del|por|para|que|tuvo|tenía|detrás|hubo|hay)|\bcon qué (?:fin|
propósito)\b|\bqué (?:ha |había )?(?:provocó|provocado|causó|causado|originó|llevó|llevado|
hizo que|motivó|impulsó|desencadenó|explica|
impidió|empujó)\b
\b(?:cuál|cuáles) (?:es|fue|era|son|fueron|eran) (?:la |el |las |los )?(?:\w+ )?(?:razón|razones|causas?|
motivos?)\b|\bquién tiene la culpa\b
= consequence strong
\bconsecuencias?\b|\bresultados?\b|\befectos?\b|\bimpactos?\b|\brepercusi\w+\b|\bqué (?:pasa|pasará|pasaría|sucede|
sucederá|ocurre|
ocurrirá|ocurriría) (?:\w+ )?si\b|\bqué (?:fue|ha sido|será) de\b|\ben qué (?:terminó|acabó|resultó|derivó)\b|
\ba qué condujo\b
\bcómo (?:\w+ )?(?:afectó|afecta|influyó|cambió|transformó)\b|\bqué (?:daños?|cambios?)\b|\bqué cambió\b|
\bcómo terminó\b|\bqué ocasionó\b
= when strong
\bcuándo\b|\ba qué hora\b|\bdesde cuándo\b|\bhasta cuándo\b|\bcuánto tiempo\b|\bcuánt[oa]s (?:días|semanas|meses|
años|horas|minutos)\b
\b(?:en|de) qué (?:año|mes|fecha|época|siglo|día|momento|estación|temporada|semana)\b|\bqué (?:día|fecha|año|mes|
hora)\b|
\bantes o después\b|\bquién .{0,40}primero\b|\bcada cuánto\b|\bcumpleaños\b|\bcuánto (?:duró|dura|tardó|tarda)\b
= next strong
\ba continuación\b|\bdespués de eso\b|\by (?:luego|después)\b|\bsiguiente paso\b|\bpróximo paso\b|
\bqué\b.{1,60}\b(?:después|luego)\b
^(?:después|tras|luego)\b.{3,}\bqué\b|\bcómo sigu(?:e|ió)\b|\bqué (?:sigue|siguió|vino|viene)\b|\bquién sucedió\b
= like strong
\bsimilar(?:es)?\b|\bparecid[oa]s?\b|\bse parecen?\b|\bse parecía\w*|\bcompar\w+|\ben común\b|\bdiferencias?\b|
\bse diferencian?\b|\bsemejan\w+
\brecuerda a\b|\bcomo (?:este|esta|ese|esa|aquel)\b|\bmism[oa] (?:tipo|forma|manera|clase)\b|\bigual(?:es)? (?:que|
a)\b|\bequivalente\w*|
\banálog\w+|\btan \w+ como\b
= fact strong
^\W*(?:(?:a|de|con|para) )?(?:quién|quiénes|dónde|adónde)\b|\bcuánt[oa]s?\b|\bcómo se llama\w*|\bqué (?:color|
nombre|tamaño|marca|idioma|
dirección|número|tipo|ciudad|país)\b|\bdónde (?:está|vive|trabaja|queda)\b|^\W*(?:es|está|son|fue|hay|tiene|puede|
vive) \w+
= fact weak
\bcuál(?:es)?\b|\bqué\b
"""
FOREIGN: Mapping[Language, str] = {"de": _GERMAN, "fr": _FRENCH, "es": _SPANISH}
"""The rules of each language, in the format of `cue_patterns`."""

ASKING: Mapping[Language, str] = {
    "de": (
        r"\b(?:was|wer|wen|wem|wessen|wo|wohin|woher|wie|wann|warum|wieso|weshalb|welche[mnrs]?|wozu|woran|womit|worüber)\b|"
        r"\bwodurch\b|^\W*(?:sag|sagt|erzähl|erkläre?|nenne?|zeige?|erinnere?|beschreibe?)\b"
    ),
    "fr": (
        r"\b(?:qui|que|quoi|quand|où|pourquoi|comment|combien|quel(?:le)?s?|est-ce)\b|\bqu'est|"
        r"^\W*(?:dis|dites|raconte|explique|expliquez|nomme|montre|rappelle|décris)\b"
    ),
    "es": (
        r"\b(?:qué|quién(?:es)?|cuándo|dónde|adónde|cómo|cuál(?:es)?|cuánt[oa]s?)\b|"
        r"^\W*(?:di|dime|cuéntame|explica|nombra|muestra|recuérdame|describe)\b"
    ),
}
"""Matches a text that asks or requests something."""

FOREIGN_HEADS: Mapping[Language, Sequence[str]] = {
    "de": (
        r"^\W*(?:wer|wen|wem|wessen)\b", r"^\W*(?:wo|wohin|woher)\b", r"^\W*welche", r"^\W*was\b", r"^\W*wie ?viele?\b",
        r"^\W*wie\b", r"^\W*wann\b", r"^\W*(?:warum|wieso|weshalb)\b",
    ),
    "fr": (
        r"^\W*(?:à |de |avec )?qui\b", r"^\W*où\b", r"^\W*(?:quel|lequel)", r"^\W*(?:que\b|qu'|quoi\b)",
        r"^\W*combien\b", r"^\W*comment\b", r"^\W*quand\b", r"^\W*pourquoi\b",
    ),
    "es": (
        r"^\W*(?:a |de |con )?quién", r"^\W*(?:de |a )?dónde\b", r"^\W*cuál", r"^\W*qué\b", r"^\W*cuánt[oa]s?\b",
        r"^\W*cómo\b", r"^\W*cuándo\b", r"^\W*por qué\b",
    ),
}  # fmt: skip
"""Openings of questions, in the order of the English openings in `question_cues`."""
