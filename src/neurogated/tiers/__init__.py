"""The tiers of a memory: the working canvas and the facts."""
