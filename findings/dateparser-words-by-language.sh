#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: Of phrases that English has, some languages are read and others are not: the day before yesterday, last Friday, and numbers in words.
# Guess: T20: Italian knows the day before yesterday (0.8); T22: so does Korean (0.6); T9: 'hace dos semanas' is two weeks ago (0.95); the equals of 'last Friday' are read, seen beside T4 and T12.
# Seen: None for the day before yesterday in three languages of eleven, for last Friday in five of six, and for numbers in words in four of seven.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: dateparser==1.5.0 regex==2026.11.19
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime
import dateparser

def read(text, language):
    found = dateparser.parse(text, languages=[language], settings={"RELATIVE_BASE": datetime(2026, 3, 18, 12)})
    return found and found.date().isoformat()

days = [("the day before yesterday", "en"), ("vorgestern", "de"), ("avant-hier", "fr"), ("anteayer", "es"), ("anteontem", "pt"), ("позавчера", "ru"), ("前天", "zh"), ("przedwczoraj", "pl")]
weeks = [("two weeks ago", "en"), ("vor zwei Wochen", "de"), ("hace 2 semanas", "es")]
assert {read(*one) for one in days} == {"2026-03-16"}
assert {read(*one) for one in weeks} == {"2026-03-04"}
assert {read(*one) for one in (("два дня назад", "ru"), ("2天前", "zh"))} == {"2026-03-16"}
assert [read("ieri", "it"), read("어제", "ko"), read("أمس", "ar")] == ["2026-03-17"] * 3
assert read("last Friday", "en") == "2026-03-13"
unread = [("l'altro ieri", "it"), ("그저께", "ko"), ("أول أمس", "ar")]
unread += [("letzten Freitag", "de"), ("el viernes pasado", "es"), ("vendredi dernier", "fr"), ("в прошлую пятницу", "ru"), ("上周五", "zh")]
unread += [("hace dos semanas", "es"), ("due giorni fa", "it"), ("há dois dias", "pt"), ("两天前", "zh")]
assert [one for one in unread if read(*one)] == []
END
