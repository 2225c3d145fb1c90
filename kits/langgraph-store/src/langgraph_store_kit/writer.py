"""A second process that writes batches into a store.

`python -m langgraph_store_kit.writer FILE CLASS PLACE NAME COUNT`
"""

import importlib.util
import sys

from langgraph.store.base import PutOp

SIZE = 20
"""Items of a batch."""


def main(file: str, suite: str, place: str, name: str, count: int) -> None:
    """Write `count` batches into the namespace ("batches", name) and print the number of each when it returns.

    Args:
        file: the module of tests.
        suite: the name of its class with `open_store`.
        place: the place of the store.
        name: the name of this writer.
        count: how many batches to write.
    """
    spec = importlib.util.spec_from_file_location("suite_of_the_writer", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    with getattr(module, suite)().open_store(place) as store:
        for number in range(count):
            store.batch(
                [
                    PutOp(("batches", name), f"{number}-{part}", {"batch": number, "text": "x" * 100})
                    for part in range(SIZE)
                ]
            )
            print(number, flush=True)  # noqa: T201 - tells the test that the batch has returned


if __name__ == "__main__":
    _, file_, suite_, place_, name_, count_ = sys.argv
    main(file_, suite_, place_, name_, int(count_))
