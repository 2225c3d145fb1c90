"""The lock for loading a model."""

from neurogated.core.forking import ForkSafeLock

LOADING = ForkSafeLock()
"""The lock for loading a model and its first run; it prevents a deadlock.

Bindings of native libraries fill tables on their first call. Without this lock, one thread may hold the interpreter
lock and wait for such a table, while another thread fills the table and waits for the interpreter lock.
"""
