-- The migrations of a memory in PostgreSQL, in order; each begins with a line of its number.
-- `at` is in microseconds, `body` is a delta in the form of `codec`, `entry` is its line in the history, and `token`
-- tells whether a write reached the server. Earlier versions, which may still run, searched a graph in the database if
-- it was `searched`.

-- Migration 1
-- The tables of a memory. Bodies are compressed already.
CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE copies (place text PRIMARY KEY);
CREATE TABLE namespaces (namespace bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL);
CREATE UNIQUE INDEX namespaces_by_name ON namespaces (sha256(name));
CREATE TABLE heads (
    namespace bigint PRIMARY KEY REFERENCES namespaces ON DELETE CASCADE,
    epoch bigint NOT NULL DEFAULT 0,
    sequence bigint NOT NULL DEFAULT 0,
    erased_up_to bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE deltas (
    namespace bigint NOT NULL REFERENCES namespaces ON DELETE CASCADE,
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    uses_only boolean NOT NULL,
    entry text NOT NULL,
    token bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (namespace, sequence)
);
CREATE TABLE checkpoints (
    namespace bigint PRIMARY KEY REFERENCES namespaces ON DELETE CASCADE,
    epoch bigint NOT NULL,
    sequence bigint NOT NULL,
    graph bytea NOT NULL,
    removals bytea NOT NULL
);
ALTER TABLE checkpoints ALTER COLUMN graph SET STORAGE EXTERNAL;
ALTER TABLE deltas ALTER COLUMN body SET STORAGE EXTERNAL;

-- Migration 2
ALTER TABLE heads ADD COLUMN searched boolean NOT NULL DEFAULT false;

-- Migration 3
-- Checkpoints are written again when they are due.
DELETE FROM checkpoints;
ALTER TABLE checkpoints DROP COLUMN graph, DROP COLUMN removals, ADD COLUMN deltas bytea[] NOT NULL;
ALTER TABLE checkpoints ALTER COLUMN deltas SET STORAGE EXTERNAL;

-- Migration 4
-- To name the type of a column removes its statistics.
ALTER TABLE settings ALTER COLUMN value TYPE text, ALTER COLUMN value SET STATISTICS 0;
ALTER TABLE copies ALTER COLUMN place TYPE text, ALTER COLUMN place SET STATISTICS 0;
ALTER TABLE namespaces ALTER COLUMN name TYPE bytea, ALTER COLUMN name SET STATISTICS 0;
ALTER INDEX namespaces_by_name ALTER COLUMN 1 SET STATISTICS 0;
ALTER TABLE deltas ALTER COLUMN entry TYPE text, ALTER COLUMN entry SET STATISTICS 0,
    ALTER COLUMN body TYPE bytea, ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE checkpoints ALTER COLUMN deltas SET STATISTICS 0;

-- Migration 5
-- It made the tables of the search again.

-- Migration 6
-- The tables of the search are gone, with the texts in them. Other programs have tables with such names, too.
DO $$ BEGIN
    IF to_regclass('vectors_of_others') IS NOT NULL THEN
        DROP TABLE IF EXISTS memories, vectors, terms, links;
    END IF;
END $$;
UPDATE heads SET searched = false WHERE searched;
