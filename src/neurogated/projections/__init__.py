"""Projections of a memory into servers of others: facts into SQL tables, the working canvas into Redis."""
