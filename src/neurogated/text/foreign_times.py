"""Patterns of time expressions in German, French and Spanish."""

from __future__ import annotations

import re
from collections.abc import Mapping

from neurogated.text.language import Language

__all__ = ["TIMES"]

_CLOCK = r"\d{4}-\d\d(?:-\d\d)? | (?:1[0-9]|20)\d\d | \d\d?[./]\d\d?[./](?:\d{2,4})? | \d\d?:\d\d"

_GERMAN_MONTH = (
    "jan(?:uar|ner)?|feb(?:ruar)?|märz|apr(?:il)?|mai|juni|juli|aug(?:ust)?|sept(?:ember)?|okt(?:ober)?|"
    "nov(?:ember)?|dez(?:ember)?"
)
_GERMAN_DAY = "(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)(?:s|e|en)?"
_GERMAN_UNIT = (
    "(?:sekunde|minute|stunde|tag|nacht|woche|wochenende|monat|quartal|saison|jahr|jahrzehnt|jahrhundert)(?:e?[ns]|e)?"
)
_GERMAN_NUMBER = (
    r"\d+|ein(?:e[mnrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|paar|einigen?|wenigen?|"
    r"mehreren?|vielen?"
)
_GERMAN_PART = "morgen|früh|vormittag|mittag|nachmittag|abend|nacht|mitternacht"
_GERMAN_WHICH = "(?:letzte|vorige|vergangene|nächste|kommende|diese|jede)[nrms]?"
_GERMAN_SEASON = "frühling|frühjahr|sommer|herbst|winter"
_GERMAN = rf"""
    {_CLOCK} | \d\d?(?::\d\d)?\s?uhr
  | (?:\d\d?\.\s)? (?:{_GERMAN_MONTH}) \s (?:1[0-9]|20)\d\d | \d\d?\.\s(?:{_GERMAN_MONTH})
  | (?:im|seit|bis|ab|anfang|mitte|ende|{_GERMAN_WHICH}) \s (?:{_GERMAN_MONTH}|{_GERMAN_SEASON})
  | (?:{_GERMAN_WHICH} \s | am \s)? {_GERMAN_DAY} (?:{_GERMAN_PART})?
  | {_GERMAN_WHICH} \s (?:(?:{_GERMAN_NUMBER}) \s)? (?:{_GERMAN_UNIT}|{_GERMAN_SEASON})
  | (?:vor|in|seit|nach) \s (?:(?:ein\spaar|{_GERMAN_NUMBER}) \s) {_GERMAN_UNIT}
  | (?:{_GERMAN_NUMBER}) \s {_GERMAN_UNIT} (?:\s (?:später|zuvor|davor|danach|her))?
  | (?:(?:vor)?gestern|heute|(?:über)?morgen) (?:\s (?:{_GERMAN_PART}))?
  | am \s (?:nächsten\stag|{_GERMAN_PART}|wochenende) | (?:vormittags|nachmittags|abends|nachts|mittags|morgens)
  | (?:neulich|kürzlich|vorhin|bald|damals|früher|später|inzwischen|zuletzt|jetzt|soeben|demnächst|heutzutage)
"""
_FRENCH_MONTH = "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
_FRENCH_DAY = "(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?"
_FRENCH_UNIT = (
    "(?:seconde|minute|heure|jour|journée|nuit|semaine|week-end|moi|mois|trimestre|saison|an|année|décennie|siècle)s?"
)
_FRENCH_PART = "matin|matinée|midi|après-midi|soir|soirée|nuit|minuit"
_FRENCH_SEASON = "printemps|été|automne|hiver"
_FRENCH_NUMBER = r"\d+|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|douze|quinze|quelques|plusieurs"
_FRENCH_SIDE = "derni(?:er|ère)s?|passée?s?|prochaine?s?|suivante?s?|précédente?s?"
_FRENCH = rf"""
    {_CLOCK} | \d\d?\s?h(?:\s?\d\d)? | \d\d?\sheures?
  | (?:(?:1er|\d\d?) \s)? (?:{_FRENCH_MONTH}) \s (?:1[0-9]|20)\d\d | (?:1er|\d\d?) \s (?:{_FRENCH_MONTH})
  | (?:en|depuis|fin|début|mi|d'ici|au\smois\sd[e']) [\s-]? (?:{_FRENCH_MONTH})
  | (?:en|au|à\sl'|cet|ce|cette|l') \s? (?:{_FRENCH_SEASON}) (?:\s(?:{_FRENCH_SIDE}))?
  | (?:le\s|ce\s)? {_FRENCH_DAY} (?:\s (?:{_FRENCH_PART}|{_FRENCH_SIDE}))?
  | (?:l[ae]s?\s|l'|l’)? (?:(?:{_FRENCH_NUMBER})\s)? (?:{_FRENCH_UNIT}) \s (?:{_FRENCH_SIDE})
  | (?:ces|les|au\scours\sdes) \s (?:derni(?:er|ère)s|prochaine?s) \s (?:(?:{_FRENCH_NUMBER})\s)? {_FRENCH_UNIT}
  | (?:il\sy\sa|depuis|dans|pendant|après|avant) \s (?:{_FRENCH_NUMBER}) \s {_FRENCH_UNIT}
  | (?:{_FRENCH_NUMBER}) \s {_FRENCH_UNIT} (?:\s (?:plus\stard|avant|après|auparavant))?
  | (?:ce|cette|cet|chaque) \s (?:{_FRENCH_PART}|{_FRENCH_UNIT}) | (?:avant-)?hier (?:\s(?:{_FRENCH_PART}))?
  | (?:après-)?demain (?:\s(?:{_FRENCH_PART}))?
  | aujourd['’]hui | récemment | dernièrement | bientôt | autrefois | jadis | maintenant | tout\sà\sl['’]heure
  | la\sveille | le\slendemain
"""
_SPANISH_MONTH = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|se(?:p)?tiembre|octubre|noviembre|diciembre"
_SPANISH_DAY = "(?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)"
_SPANISH_UNIT = (
    "(?:segundo|minuto|hora|día|noche|semana|fin(?:es)?\\sde\\ssemana|mes|mese|trimestre|temporada|año|década|siglo)s?"
)
_SPANISH_PART = "mañana|mediodía|tarde|noche|medianoche|madrugada"
_SPANISH_SEASON = "primavera|verano|otoño|invierno"
_SPANISH_NUMBER = (
    r"\d+|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|unos|unas|pocos|pocas|varios|"
    r"varias|algunos|algunas"
)
_SPANISH_SIDE = "pasad[oa]s?|anterior(?:es)?|próxim[oa]s?|siguientes?|que\\sviene"
_SPANISH = rf"""
    {_CLOCK} | a\slas?\s(?:\d\d?|{_SPANISH_NUMBER}|once)
  | (?:\d\d?\sde\s)? (?:{_SPANISH_MONTH}) \s (?:de|del) \s (?:1[0-9]|20)\d\d | \d\d?\sde\s(?:{_SPANISH_MONTH})
  | (?:en|desde|hasta|a\sfinales\sde|a\sprincipios\sde|a\smediados\sde) \s (?:{_SPANISH_MONTH})
  | (?:en|este|esta|el|la) \s (?:{_SPANISH_SEASON}) (?:\s(?:{_SPANISH_SIDE}))?
  | (?:el\s|los\s|este\s)? (?:(?:próximo|pasado)\s)? {_SPANISH_DAY} (?:\s
    (?:{_SPANISH_SIDE}|por\sla\s(?:{_SPANISH_PART})))?
  | (?:(?:el|la|los|las)\s)? {_SPANISH_UNIT} \s (?:{_SPANISH_SIDE})
  | (?:el|la|los|las) \s (?:últim|próxim|pasad)[oa]s? \s (?:(?:{_SPANISH_NUMBER})\s)? {_SPANISH_UNIT}
  | (?:hace|desde\shace|dentro\sde|tras|durante|en) \s (?:{_SPANISH_NUMBER}) \s {_SPANISH_UNIT}
  | (?:{_SPANISH_NUMBER}) \s {_SPANISH_UNIT} (?:\s (?:después|antes|más\starde|atrás))?
  | (?:est[ea]|cada|toda\sla) \s (?:{_SPANISH_PART}|{_SPANISH_UNIT}) | (?:por|de) \s la \s (?:{_SPANISH_PART})
  | (?:anteayer|ayer|hoy|anoche) (?:\s por \s la \s (?:{_SPANISH_PART}))?
  | (?<!la\s)mañana(?!s) | pasado\smañana | recientemente | últimamente | pronto | ahora | antaño | entonces
"""

_PATTERNS: Mapping[Language, str] = {"de": _GERMAN, "fr": _FRENCH, "es": _SPANISH}
TIMES: Mapping[Language, re.Pattern[str]] = {
    language: re.compile(rf"\b(?:{pattern})(?!\w)", re.VERBOSE | re.IGNORECASE)
    for language, pattern in _PATTERNS.items()
}
"""The pattern of each language except English and Chinese."""
