"""What texts say, read into claims by a table of attributes and their wordings."""

from neurogated.knowledge.read.naming import attribute_named
from neurogated.knowledge.read.reader import OfflineClaimReader
from neurogated.knowledge.read.table import Attribute
from neurogated.knowledge.read.values import compare_values

__all__ = ["Attribute", "OfflineClaimReader", "attribute_named", "compare_values"]
