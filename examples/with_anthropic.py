"""Anthropic's memory tool with its files in a memory. Runs offline: the commands of Claude are written down.

usage: python examples/with_anthropic.py [MEMORY_FOLDER]

needs: pip install 'neurogated[anthropic]'. With a key, give the tool to the client:

    client.beta.messages.tool_runner(model=…, max_tokens=…, messages=[…], tools=[MemoryTool(memory, user_id="ana")])
"""

import sys
import tempfile

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.anthropic_memory import MemoryTool

COMMANDS = (
    {"command": "create", "path": "/memories/birds.md", "file_text": "Ana's heron is called Ida.\n"},
    {"command": "str_replace", "path": "/memories/birds.md", "old_str": "Ida", "new_str": "Ada"},
    {"command": "view", "path": "/memories"},
)


def main(folder: str) -> None:
    """Do what Claude asks for, and recall it without the tool."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        tool = MemoryTool(memory, user_id="ana")
        print("\nana:")
        for command in COMMANDS:
            print(tool.call(command))
        print(memory.recall("What is the heron called?", user_id="ana").as_text())
        print("\nbob:")
        print(MemoryTool(memory, user_id="bob").call({"command": "view", "path": "/memories"}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
