"""A small agent that remembers: recall → answer → feedback. Runs offline.

usage: python examples/agent_loop.py [MEMORY_FOLDER]

The "language model" of this agent is a rule: it quotes the sentence that shares most words with the question. So the
example needs no key. Replace `answer` by a call of your own model.
"""

import re
import sys
import tempfile

from neurogated import MemoryConfig, NeuroGraphMemory, Recall

DIARY = (
    "Monday. The intake pump of the greenhouse stopped at six in the morning. Ilka called the workshop.",
    "Tuesday. Because of this, the seedlings in the north bay stood dry for a whole day and a third of them wilted.",
    "Wednesday. Tomas fitted a new impeller. The pump runs again, louder than before.",
    "Thursday. We sowed the north bay again, this time with the hardy sort from Ilka's aunt.",
    "Friday. The accountant asked for the receipts of the impeller and of the seed.",
)
QUESTIONS = (
    "Why did the seedlings wilt?",
    "What came of the broken pump?",
    "What happened after the impeller was fitted?",
)


def answer(question: str, recall: Recall) -> tuple[str, str]:
    """Return the sentence that shares most words with the question, and the id of its memory."""
    asked = set(re.findall(r"\w+", question.lower()))
    sentences = [
        (len(asked & set(re.findall(r"\w+", sentence.lower()))), sentence, memory.id)
        for memory in recall
        for sentence in memory.content.split(". ")[1:]
    ]
    _, sentence, memory_id = max(sentences)
    return sentence, memory_id


def main(folder: str) -> None:
    """Remember a week, answer questions, and learn which memories belong together."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        memory.add(DIARY, title="Diary of the greenhouse")
        for question in QUESTIONS:
            recall = memory.recall(question)
            sentence, source = answer(question, recall)
            print(f"{question}\n  kernel: {recall.kernel.justification}\n  answer: {sentence}")
            # The memory with the answer and the best memory were useful together.
            used = {source, *recall.ids[:2]}
            print(f"  strengthened {memory.feedback(used)} edges")
        memory.maintenance()
        for entry in memory.history.list():
            print(f"{entry.sequence:3} {entry.reason}: {dict(entry.changes)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
