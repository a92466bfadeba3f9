-- The log of the workspace: what changed, in one dense sequence. It holds references alone; text stays where it can
-- be scrubbed. Old entries go, from the oldest on; the newest stays, so that no number comes twice.

CREATE TABLE log (
    n INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    channel INTEGER REFERENCES channel,
    message INTEGER REFERENCES message,
    run INTEGER REFERENCES run,
    -- Number of a run's step.
    step INTEGER,
    binding INTEGER REFERENCES binding,
    person INTEGER REFERENCES person
) STRICT;

-- Which database this is: a place in the log of another one means nothing here.
CREATE TABLE origin (
    id BLOB NOT NULL CHECK (length(id) = 8)
) STRICT;
INSERT INTO origin VALUES (randomblob(8));
