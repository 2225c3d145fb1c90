-- Golden: format version 1 as neurogated wrote it, and a memory in it. Never to be changed.
PRAGMA journal_mode = WAL;
BEGIN;
PRAGMA application_id = 1313296964;
PRAGMA user_version = 1;

CREATE TABLE settings (
    name TEXT PRIMARY KEY,               -- 'embedder', 'dimension'
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE namespaces (
    namespace INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE edge_types (
    type INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL UNIQUE,
    plastic INTEGER NOT NULL,
    both_ways INTEGER NOT NULL
);

CREATE TABLE deltas (                    -- the journal: one row a write
    sequence INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespaces,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    changes TEXT NOT NULL,               -- JSON, how many of what; for history
    operators TEXT                       -- JSON; evaluated anew when the memory is opened
);

CREATE TABLE pending (                   -- judgements to be made up; not journaled
    task INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespaces,
    kind TEXT NOT NULL,
    nodes TEXT NOT NULL,                 -- JSON list of ids
    UNIQUE (namespace, kind, nodes)
);

CREATE TABLE nodes (
    node INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL REFERENCES namespaces,
    id TEXT NOT NULL,
    UNIQUE (namespace, id)
);

CREATE TABLE node_versions (
    node INTEGER NOT NULL REFERENCES nodes,
    since INTEGER NOT NULL REFERENCES deltas,
    until INTEGER REFERENCES deltas,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,              -- JSON
    base_energy REAL NOT NULL,
    created_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    PRIMARY KEY (node, since)
);

CREATE TABLE vectors (
    node INTEGER NOT NULL REFERENCES nodes,
    since INTEGER NOT NULL REFERENCES deltas,
    until INTEGER REFERENCES deltas,
    vector BLOB NOT NULL,                -- little-endian float32
    PRIMARY KEY (node, since)
);

CREATE TABLE accesses (                  -- marks of recall; not journaled
    node INTEGER PRIMARY KEY REFERENCES nodes,
    last_accessed INTEGER NOT NULL
);

CREATE TABLE edges (
    edge INTEGER PRIMARY KEY,            -- in the order edges were added
    source INTEGER NOT NULL REFERENCES nodes,
    target INTEGER NOT NULL REFERENCES nodes,
    type INTEGER NOT NULL REFERENCES edge_types,
    since INTEGER NOT NULL REFERENCES deltas,
    until INTEGER REFERENCES deltas,
    created_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER
);

CREATE TABLE strengths (                 -- an edge's weight from one delta on, until the next row or operator
    edge INTEGER NOT NULL REFERENCES edges,
    since INTEGER NOT NULL REFERENCES deltas,
    weight REAL NOT NULL,
    last_activated INTEGER NOT NULL,
    PRIMARY KEY (edge, since)
) WITHOUT ROWID;

INSERT INTO settings VALUES ('embedder', 'model'), ('dimension', '3');
INSERT INTO namespaces VALUES (1, 'default'), (2, 'other');
INSERT INTO edge_types VALUES (1, 'SEQ', 'sequential', 1, 1), (2, 'SIM', 'similarity', 0, 1);
INSERT INTO deltas VALUES
    (1, 1, 1000000, 'three nodes', '{"nodes put": 3, "edges put": 2}', NULL),
    (2, 2, 2000000, 'one elsewhere', '{"nodes put": 1}', NULL),
    (3, 1, 3000000, 'a again', '{"nodes put": 1}', NULL),
    (4, 1, 4000000, 'feedback', '{"weights changed": 1}', NULL),
    (5, 1, 5000000, 'decay', '{}', '[{"kind": "decay", "factor": 0.5, "idle_before": 5000000, "floor": 0.0}]'),
    (6, 1, 6000000, 'touch', '{}', NULL),
    (7, 1, 7000000, 'c goes', '{"nodes removed": 1}', NULL);
INSERT INTO nodes VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 2, 'a');
INSERT INTO node_versions VALUES
    (1, 1, 3, 'the first apple', '{"place": 1}', 1.0, 1000000, NULL, NULL),
    (2, 1, NULL, 'a river', '{}', 0.5, 1000000, 500000, 9000000),
    (3, 1, 7, 'a cloud', '{}', 1.0, 1000000, NULL, NULL),
    (4, 2, NULL, 'an apple elsewhere', '{}', 1.0, 2000000, NULL, NULL),
    (1, 3, NULL, 'the second apple', '{"place": 2}', 1.0, 3000000, NULL, NULL);
INSERT INTO vectors VALUES
    (1, 1, NULL, x'0000803F0000000000000000'), (2, 1, NULL, x'000000000000803F00000000'),
    (3, 1, 7, x'00000000000000000000803F'), (4, 2, NULL, x'0000803F0000803F00000000');
INSERT INTO accesses VALUES (1, 6000000), (2, 1000000), (3, 1000000), (4, 2000000);
INSERT INTO edges VALUES
    (1, 1, 2, 1, 1, NULL, 1000000, NULL, NULL), (2, 2, 3, 1, 1, 7, 1000000, NULL, NULL),
    (3, 1, 2, 2, 1, NULL, 1000000, 1000000, NULL);
INSERT INTO strengths VALUES (1, 1, 0.5, 1000000), (2, 1, 0.5, 1000000), (3, 1, 0.75, 1000000),
    (1, 4, 0.8, 4000000), (1, 6, 0.4, 6000000);
INSERT INTO pending VALUES (1, 1, 'cause', '["a", "b"]');
COMMIT;
