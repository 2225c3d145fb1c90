-- The tables of a memory file. Times are microseconds since 1970 UTC; `since` and `until` are numbers of deltas.

CREATE TABLE settings (
    name TEXT PRIMARY KEY,               -- 'identity' of the journal, 'incarnation' of the file at its 'place',
                                         -- 'erased N': the last delta of namespace N whose past was erased,
                                         -- 'generation', 'erasures', 'embedder', 'dimension', 'frozen',
                                         -- 'copy URL' for each place outside the folder that has received texts or ids
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

CREATE TABLE kinds (                     -- of nodes
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE scopes (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE            -- JSON list: user, agent, session, the parts of the path
);

CREATE TABLE deltas (                    -- the journal: one row per write
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL REFERENCES namespaces,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    changes TEXT,                        -- JSON: counts by kind of change; NULL: uses only, until the next uses
    operators TEXT,                      -- JSON; evaluated when the memory is opened
    spared BLOB                          -- edges that the operators spare, because they were used;
                                         -- NULL once the weights include the effect of the operators
);
CREATE INDEX deltas_of_uses ON deltas (namespace) WHERE changes IS NULL;
CREATE INDEX deltas_by_time ON deltas (namespace, at) WHERE changes IS NOT NULL;

CREATE TABLE pending (                   -- queued judgements; not journaled
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
    expires_at INTEGER,
    kind INTEGER NOT NULL REFERENCES kinds,
    scope INTEGER REFERENCES scopes,     -- NULL: the empty scope
    importance REAL NOT NULL,
    energy_at INTEGER,                   -- the time of base_energy; NULL: created_at
    timestamp INTEGER,
    role TEXT,
    speaker TEXT,
    title TEXT,
    position INTEGER,
    tags TEXT,                           -- JSON list; NULL: none
    found TEXT,                          -- JSON: findings of the memory itself; NULL: none
    PRIMARY KEY (node, since)
);
CREATE INDEX node_versions_since ON node_versions (since);
CREATE INDEX node_versions_until ON node_versions (until) WHERE until IS NOT NULL;
CREATE INDEX node_versions_lasting ON node_versions (node)
    WHERE valid_from IS NOT NULL OR valid_to IS NOT NULL OR expires_at IS NOT NULL;

CREATE TABLE node_changes (              -- later energies and importances of a version, each until the next
    node INTEGER NOT NULL REFERENCES nodes,
    since INTEGER NOT NULL REFERENCES deltas,
    energy REAL,                         -- NULL: unchanged
    energy_at INTEGER,
    importance REAL,                     -- NULL: unchanged
    PRIMARY KEY (node, since)
) WITHOUT ROWID;
CREATE INDEX node_changes_since ON node_changes (since);

CREATE TABLE vectors (
    node INTEGER NOT NULL REFERENCES nodes,
    since INTEGER NOT NULL REFERENCES deltas,
    until INTEGER REFERENCES deltas,
    vector BLOB NOT NULL,                -- little-endian float32
    PRIMARY KEY (node, since)
);
CREATE INDEX vectors_since ON vectors (since);
CREATE INDEX vectors_until ON vectors (until) WHERE until IS NOT NULL;

CREATE TABLE accesses (                  -- last use, use count and charge of nodes; not journaled
    node INTEGER PRIMARY KEY REFERENCES nodes,
    last_accessed INTEGER NOT NULL,
    uses INTEGER NOT NULL,               -- how often
    since INTEGER NOT NULL DEFAULT 0,    -- the delta that recorded it, for processes that follow the file
    charge REAL NOT NULL DEFAULT 0,      -- the energy that uses have added
    charged_at INTEGER                   -- the time of the charge; NULL: created_at
);
CREATE INDEX accesses_since ON accesses (since);

CREATE TABLE edge_uses (                 -- last uses of edges that are later than their weights
    edge INTEGER PRIMARY KEY REFERENCES edges,
    last_activated INTEGER NOT NULL,
    since INTEGER NOT NULL               -- the delta that recorded it
);
CREATE INDEX edge_uses_since ON edge_uses (since);

CREATE TABLE daily_uses (                -- total uses of nodes and edges per day
    namespace INTEGER NOT NULL REFERENCES namespaces,
    day INTEGER NOT NULL,                -- since 1970 UTC
    nodes INTEGER NOT NULL,
    edges INTEGER NOT NULL,
    PRIMARY KEY (namespace, day)
) WITHOUT ROWID;

CREATE TABLE edges (
    edge INTEGER PRIMARY KEY,            -- in the order edges were added
    source INTEGER NOT NULL REFERENCES nodes,
    target INTEGER NOT NULL REFERENCES nodes,
    type INTEGER NOT NULL REFERENCES edge_types,
    since INTEGER NOT NULL REFERENCES deltas,
    until INTEGER REFERENCES deltas,
    weight REAL NOT NULL,                -- the first weight
    created_at INTEGER,                  -- NULL: the time of its delta
    last_activated INTEGER,              -- the last use before it was added; NULL: created_at
    valid_from INTEGER,
    valid_to INTEGER,
    relation TEXT
);
CREATE INDEX edges_since ON edges (since);
CREATE INDEX edges_until ON edges (until) WHERE until IS NOT NULL;
CREATE INDEX edges_related ON edges (edge) WHERE relation IS NOT NULL;  -- earlier builds of this format ask for it by name
CREATE INDEX edges_lasting ON edges (edge) WHERE valid_from IS NOT NULL OR valid_to IS NOT NULL;

CREATE TABLE edge_weights (              -- later weights of an edge, each until the next
    edge INTEGER NOT NULL REFERENCES edges,
    since INTEGER NOT NULL REFERENCES deltas,
    weight REAL NOT NULL,
    last_activated INTEGER,              -- NULL: unchanged
    PRIMARY KEY (edge, since)
) WITHOUT ROWID;
CREATE INDEX edge_weights_since ON edge_weights (since);
