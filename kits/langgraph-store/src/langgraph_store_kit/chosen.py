"""The tests that the command runs: the contract over the store that it was given.

Pytest imports this module, and so do the processes that the contract starts; the environment tells both of the choice.
"""

import os

from langgraph_store_kit.factory import suite_of

_TARGET, _WITHOUT = os.environ["LANGGRAPH_STORE_KIT_TARGET"], os.environ["LANGGRAPH_STORE_KIT_WITHOUT"]

TestStore = type("TestStore", (suite_of(_TARGET, _WITHOUT.split()),), {})
