"""A conversation memory in three tiers on a store of LangGraph. Runs offline, without a chat model.

usage: python examples/memoryos.py [MEMORY_FOLDER]

needs: pip install 'neurogated[langgraph]'. Pass `llm=` and `embedding=` to use models of LangChain.
"""

import sys
import tempfile

from neurogated.integrations.langgraph.memoryos import MemoryOS

CONVERSATION = (
    ("I live in Lyon.", "A beautiful city."),
    ("My heron is called Ada.", "A fine name."),
    ("I like playing the cello.", "What do you play?"),
    ("Mostly Bach.", "The capital of his music is Leipzig."),
    ("See you tomorrow.", "Good night."),
)


def main(folder: str) -> None:
    """Save a conversation, and ask for it."""
    with MemoryOS(storage_dir=folder, short_term_max_capacity=2) as memory:
        for said, answered in CONVERSATION:
            memory.save_memory(user_id="ana", session_id="monday", user_query=said, assistant_response=answered)
        memory.flush()
        # Without a chat model nothing is learned from pages, so the profile has what the user sets.
        memory.set_profile("ana", "Music", "Bach on the cello")
        found = memory.search_memory(user_id="ana", query="What is my heron called?", top_k=3)
        for part, text in found.items():
            print(f"{part}:\n{text}\n")
        for hit in found.hits:
            print(f"{hit.score:.2f} {hit.tier}: {hit.text!r}")
        for dimension, trait in memory.profile("ana").items():
            print(f"{dimension}: {trait['value']} ({trait['confidence']:.0%})")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
