"""Moving a memory: export to a folder of plain files, and import of it."""
