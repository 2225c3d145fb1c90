"""Export of a memory to a folder of plain files, and its import."""
