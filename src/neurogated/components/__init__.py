"""The components of a memory: each holds the session and has the calls of one feature."""

from neurogated.components.admin import Admin
from neurogated.components.conflicts import Conflicts, Duplicates
from neurogated.components.context import AgentContext
from neurogated.components.energy import Energy
from neurogated.components.expressions import Expressions
from neurogated.components.facts import Facts
from neurogated.components.graph import Graph
from neurogated.components.history import History
from neurogated.components.learning import Learning
from neurogated.components.manifest import Manifest
from neurogated.components.policies import Policies, run_policies
from neurogated.components.texts import Page, Recalls, Texts, listed_by, page_of

__all__ = [
    "Admin",
    "AgentContext",
    "Conflicts",
    "Duplicates",
    "Energy",
    "Expressions",
    "Facts",
    "Graph",
    "History",
    "Learning",
    "Manifest",
    "Page",
    "Policies",
    "Recalls",
    "Texts",
    "listed_by",
    "page_of",
    "run_policies",
]
