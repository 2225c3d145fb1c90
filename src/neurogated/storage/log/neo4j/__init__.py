"""The log of a memory in Neo4j, or in another database that speaks Bolt."""
