"""The prompt `kernel_generation` for `str.format`."""

from neurogated.prompts.prompt_manager import built_in_prompt, role_pairs

KERNEL_GENERATION_TEMPLATE = role_pairs(built_in_prompt("kernel_generation"))
"""System text and request."""
