"""Distinct facts in 300 tokens of a context, before and after a consolidation.

A user tells facts about herself and about others, one a message, between small talk. Then she asks what is known of
each. A fact counts if its value is in the text.

python -m benchmarks.density
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np

from neurogated import Context, MemoryConfig, NeuroGraphMemory
from neurogated.text.sentences import split_sentences

BUDGET = 300
USER = "ana"
TOLD: Mapping[str, tuple[tuple[str, str], ...]] = {
    "me": (
        ("I live in Antwerp, in a small flat near the park.", "Antwerp"),
        ("By the way, I work at Physio Plus now.", "Physio Plus"),
        ("I'm allergic to peanuts, so no satay for me please.", "peanuts"),
        ("My favourite food is ramen, as you know.", "ramen"),
        ("I drive a blue Volvo these days.", "Volvo"),
        ("I was born on 3 May 1990.", "3 May"),
        ("I speak Portuguese with my grandmother.", "Portuguese"),
        ("My dog is called Rex and he is a menace.", "Rex"),
        ("My phone number is 0470 123 456.", "0470"),
        ("I am vegetarian.", "vegetarian"),
    ),
    "Nora": (
        ("Nora lives in Bruges with her parents.", "Bruges"),
        ("Nora works at Maple Clinic, she loves it there.", "Maple Clinic"),
        ("Nora is a physiotherapist.", "physiotherapist"),
        ("Nora is allergic to cats, poor thing.", "cats"),
        ("Nora's birthday is on 7 June.", "7 June"),
        ("Nora speaks Dutch at home.", "Dutch"),
        ("Nora's favourite colour is green, like her car.", "green"),
        ("Nora is married to Emil.", "Emil"),
    ),
    "Tom": (
        ("Tom moved to Oslo last year.", "Oslo"),
        ("Tom works at Fjord Shipping as far as I know.", "Fjord Shipping"),
        ("Tom is a welder.", "welder"),
        ("Tom drives an old Saab.", "Saab"),
        ("Tom plays the cello on Sundays.", "cello"),
        ("Tom is 42 years old.", "42"),
        ("Tom has a cat called Mimi.", "Mimi"),
    ),
}
TALK = ("What a day!", "The bus was late again.", "Thanks, that helps.", "It rained all morning here.", "Ha, good one.")


def fill(memory: NeuroGraphMemory) -> None:
    """Tell everything, one message an hour."""
    moment = datetime(2026, 3, 1, 9, tzinfo=UTC)
    told = [said for group in TOLD.values() for said, _ in group]
    order = np.random.default_rng(0).permutation(len(told))
    for number, place in enumerate(order.tolist()):
        for text in (told[place], TALK[number % len(TALK)]):
            moment += timedelta(hours=1)
            message = {"role": "user", "content": text}
            memory.add(message, user_id=USER, session_id=f"{moment:%Y-%m-%d}", timestamp=moment)


def contexts(memory: NeuroGraphMemory) -> dict[str, Context]:
    """Ask what is known of each person."""
    return {name: memory.get_context(f"What do you know about {name}?", BUDGET, user_id=USER) for name in TOLD}


def report(when: str, found: Mapping[str, Context]) -> float:
    """Print and return the distinct facts per 300 tokens."""
    known = [value for group in TOLD.values() for _, value in group]
    held = {name: [value for _, value in TOLD[name] if value in context.text] for name, context in found.items()}
    density = [BUDGET * sum(one in each.text for one in known) / max(1, each.tokens) for each in found.values()]
    texts = [re.sub(r"(?m)^- ", "", context.text) for context in found.values()]
    said = [(text, one.strip()) for text in texts for one in split_sentences(text)]
    for name, context in found.items():
        print(f"{when}, {name}: {len(held[name])} of {len(TOLD[name])} facts in {context.tokens} tokens")
    print(f"{when}: {np.mean(density):.1f} facts in {BUDGET} tokens; {len(said) - len(set(said))} sentences twice")
    return float(np.mean(density))


def main() -> None:
    """Print the figures before and after."""
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        fill(memory)
        before = report("before", contexts(memory))
        for name in memory.learning.consolidate(progress=False):
            print(f"  {memory.get(name).kind}: {memory.get(name).content}")
        after = report("after", contexts(memory))
        print(f"ratio {after / before:.2f}")


if __name__ == "__main__":
    main()
