"""The prompt `ner` for `str.format`."""

from neurogated.prompts.prompt_manager import built_in_prompt, role_pairs

NER_TEMPLATE = role_pairs(built_in_prompt("ner"))
"""System text and request."""
