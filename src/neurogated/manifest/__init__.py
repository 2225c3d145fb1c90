"""The manifest: what a memory holds, by communities, as a value and as a short text."""
