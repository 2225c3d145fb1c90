"""The expression language: text → expression → checked call of an operation, which runs or becomes Cypher."""

from neurogated.operations import EXPRESSIONS as OPERATIONS
from neurogated.operations import Operation
from neurogated.sexpr.check import Call, check
from neurogated.sexpr.reader import Atom, Form, Symbol, layout, read, write

__all__ = ["OPERATIONS", "Atom", "Call", "Form", "Operation", "Symbol", "check", "layout", "read", "write"]
