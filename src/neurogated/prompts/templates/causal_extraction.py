"""The prompt `causal_extraction` for `str.format`."""

from neurogated.prompts.prompt_manager import built_in_prompt, role_pairs

CAUSAL_EXTRACTION_TEMPLATE = role_pairs(built_in_prompt("causal_extraction"))
"""System text and request."""
