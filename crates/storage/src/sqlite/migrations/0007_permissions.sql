-- Permissions that agents ask people for, and how each binding's requests are decided.

-- JSON; what is missing in it is as by default.
ALTER TABLE binding ADD COLUMN permissions TEXT NOT NULL DEFAULT '{}';

CREATE TABLE permission (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run,
    -- What for, as JSON.
    asked TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    until INTEGER NOT NULL,
    -- What came of it; NULL while it waits.
    outcome TEXT,
    -- Number of the option that was chosen.
    option INTEGER,
    person INTEGER REFERENCES person,
    -- Their name at that time.
    name TEXT CHECK ((name IS NULL) = (person IS NULL)),
    why TEXT,
    decided_at INTEGER CHECK ((decided_at IS NULL) = (outcome IS NULL))
) STRICT;
CREATE INDEX permission_run ON permission (run);
CREATE INDEX permission_pending ON permission (id) WHERE outcome IS NULL;

ALTER TABLE log ADD COLUMN permission INTEGER REFERENCES permission;
