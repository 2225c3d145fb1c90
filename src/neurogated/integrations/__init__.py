"""Foreign interfaces to a memory, one module each. Importing this package loads no framework."""
