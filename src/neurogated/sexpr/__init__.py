"""The expression language: text → expression → checked call of an operation, which runs or becomes Cypher."""

from neurogated.sexpr.check import Call, check
from neurogated.sexpr.layout import layout
from neurogated.sexpr.operations import OPERATIONS, Operation, Parameter, reference
from neurogated.sexpr.reader import Atom, Form, Symbol, read, write

__all__ = [
    "OPERATIONS",
    "Atom",
    "Call",
    "Form",
    "Operation",
    "Parameter",
    "Symbol",
    "check",
    "layout",
    "read",
    "reference",
    "write",
]
