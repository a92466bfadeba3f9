-- How runs wait: to be tried again, for a person to let them go on, for the end of a pause.

-- Turns of the run that failed for a passing reason; until when it waits for the next, and why.
ALTER TABLE run ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN again_at INTEGER;
ALTER TABLE run ADD COLUMN again_why TEXT CHECK ((again_why IS NOT NULL) = (again_at IS NOT NULL));

-- A binding's own limits; NULL: those of the settings.
ALTER TABLE binding ADD COLUMN inactivity_ms INTEGER;
ALTER TABLE binding ADD COLUMN turn_ms INTEGER;

-- Bindings that begin no run until a person lets them, and the run since which they do not.
CREATE TABLE hold (
    binding INTEGER PRIMARY KEY REFERENCES binding,
    why TEXT NOT NULL CHECK (why IN ('stopped', 'crashed')),
    run INTEGER NOT NULL REFERENCES run,
    since INTEGER NOT NULL
) STRICT;

-- Since when no agent of the channel begins anything.
ALTER TABLE channel ADD COLUMN paused_at INTEGER;

-- The same of all channels: one row, or none.
CREATE TABLE pause (
    since INTEGER NOT NULL
) STRICT;
