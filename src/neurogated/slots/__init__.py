"""Facts in slots: attributes and their values, the comparison of two facts, and the values of a slot by time."""
