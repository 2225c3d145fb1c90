"""The statements of a log in a database. Their texts are constants; every value is a parameter.

All nodes of a memory have a label of ours, so that a memory may share a database with other data:

* `NeurogatedMemory`, one node: its settings and its write lock.
* `NeurogatedGraph`, one a namespace: the end of its log.
* `NeurogatedDelta`: the log.
* `NeurogatedCheckpoint`: the parts of a checkpoint; see `checkpoint`.
* `NeurogatedNode` and `NeurogatedTag`: what people browse; see `projection`.
"""

from __future__ import annotations

from typing import Final

FORMAT: Final = 1

_UNIQUE = (
    ("NeurogatedMemory", "n.memory"),
    ("NeurogatedGraph", "(n.memory, n.namespace)"),
    ("NeurogatedDelta", "(n.memory, n.namespace, n.sequence)"),
)
# These keys need no constraint, since the log decides; and with one, some servers cannot change a label.
_INDEXED = (
    ("NeurogatedNode", "id"),
    ("NeurogatedNode", "kind"),
    ("NeurogatedNode", "timestamp"),
    ("NeurogatedTag", "name"),
    ("NeurogatedCheckpoint", "name"),
)
SCHEMA: Final = tuple(
    f"CREATE CONSTRAINT {label} IF NOT EXISTS FOR (n:{label}) REQUIRE {key} IS UNIQUE" for label, key in _UNIQUE
) + tuple(
    f"CREATE INDEX {label}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.memory, n.namespace, n.{name})"
    for label, name in _INDEXED
)

_MEMORY: Final = "(m:NeurogatedMemory {memory: $memory})"
MEMORY: Final = f"MATCH {_MEMORY} RETURN properties(m) AS memory"
CREATE_MEMORY: Final = (
    f"MERGE {_MEMORY} ON CREATE SET m.identity = $identity, m.format = $format, m.epochs = 0, m.frozen = false,"
    " m.copies = [], m.holder = '', m.asked = '', m.until = 0 RETURN properties(m) AS memory"
)
SET_MEMORY: Final = f"MATCH {_MEMORY} SET m += $values"
CLEAR_MEMORY: Final = f"MATCH {_MEMORY} SET m.frozen = false, m.copies = [], m.embedder = null, m.dimension = null"
HOLD: Final = (
    f"MATCH {_MEMORY} WHERE m.holder = $holder WITH m, coalesce(m.commit, '') = $commit AS done"
    " SET m.commit = $commit, m.until = timestamp() + $lease RETURN done, coalesce(m.asked, '') <> '' AS is_asked_for"
)

OWN: Final = "memory: $memory, namespace: $namespace"
"""The properties of every node of a graph, in a pattern."""
GRAPH_NODE: Final = f"(g:NeurogatedGraph {{{OWN}}})"
GRAPH: Final = (
    f"MATCH {_MEMORY} OPTIONAL MATCH {GRAPH_NODE} RETURN properties(m) AS memory, g.epoch AS epoch,"
    " g.sequence AS sequence, g.erased AS erased"
)
GRAPHS: Final = "MATCH (g:NeurogatedGraph {memory: $memory}) RETURN g.namespace AS namespace ORDER BY g.created"
SET_GRAPH: Final = f"MERGE {GRAPH_NODE} ON CREATE SET g.created = $values.epoch SET g += $values"
# The graph is locked first, so that nobody adds to a checkpoint that was dropped.
DROP_CHECKPOINT: Final = (
    f"MATCH {GRAPH_NODE} SET g.checkpoint = null, g.checkpointed = null, g.parts = null",
    f"MATCH (c:NeurogatedCheckpoint {{{OWN}}}) DELETE c",
)
DROP_GRAPH: Final = DROP_CHECKPOINT + tuple(
    f"MATCH (n:{label} {{{OWN}}}) DETACH DELETE n"
    for label in ("NeurogatedNode", "NeurogatedTag", "NeurogatedDelta", "NeurogatedGraph")
)

CREATE_DELTA: Final = (
    f"MATCH {GRAPH_NODE} SET g.sequence = $values.sequence"
    f" CREATE (d:NeurogatedDelta {{{OWN}, sequence: $values.sequence}}) SET d += $values"
)
# The name of a commit tells whether it reached the log, also after later ones.
COMMITTED: Final = (
    f"MATCH (d:NeurogatedDelta {{{OWN}, sequence: $sequence}}) WHERE d.commit = $commit RETURN d.sequence AS sequence"
)
# Keys are looked up one by one, since not every server reads a range from an index of several properties.
DELTAS: Final = (
    f"MATCH {GRAPH_NODE} WHERE g.epoch = $epoch WITH g UNWIND range($first, $last) AS number"
    f" MATCH (d:NeurogatedDelta {{{OWN}, sequence: number}})"
    " RETURN d.sequence AS sequence, d.body AS body ORDER BY sequence"
)
SET_BODIES: Final = (
    f"UNWIND $rows AS row MATCH (d:NeurogatedDelta {{{OWN}, sequence: row.sequence}}) SET d.body = row.body"
)
HISTORY: Final = (
    f"MATCH (d:NeurogatedDelta {{{OWN}}}) WHERE d.sequence > $after AND d.sequence <= $up_to"
    " RETURN d.sequence AS sequence, d.at AS at, d.reason AS reason,"
    " d.changes AS changes, d.operators AS operators ORDER BY sequence"
)
