"""Add memories and print the number of each that is stored: `python postgres_writer.py URL NAME COUNT FOLDER`."""

import sys

from neurogated import MemoryConfig, NeuroGraphMemory

__all__ = ["main"]


def main() -> None:
    """Add the memories of the command line."""
    url, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with NeuroGraphMemory(MemoryConfig(storage=url, save_dir=sys.argv[4], embedding_name="hash")) as memory:
        for number in range(count):
            memory.add(f"{name} {number}")
            print(number, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
