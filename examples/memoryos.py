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
    # So low a threshold makes every segment hot, so that the long-term memory learns at once.
    with MemoryOS(storage_dir=folder, short_term_max_capacity=2, mid_term_heat_threshold=1.5) as memory:
        for said, answered in CONVERSATION:
            memory.save_memory(user_id="ana", session_id="monday", user_query=said, assistant_response=answered)
        memory.flush()
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
