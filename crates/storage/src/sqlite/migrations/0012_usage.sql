-- What each turn of a run took, as far as it was told; NULL is what nobody told. A turn that told nothing has a row, too.
CREATE TABLE turn_usage (
    run INTEGER NOT NULL REFERENCES run,
    -- 1, 2, 3, … within the run: it may be tried again.
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    -- The session that had the turn; NULL where that is not known any more.
    native TEXT,
    lease TEXT,
    -- Who told it: `agent` or `transcript`.
    source TEXT,
    model TEXT,
    input INTEGER,
    cached_read INTEGER,
    cached_write INTEGER,
    output INTEGER,
    total INTEGER,
    -- Millionths of the currency's unit; `cost_by` is `agent` or `price`.
    cost INTEGER,
    currency TEXT,
    cost_by TEXT,
    -- Requests that were broken off, of which nobody tells what they took.
    cut INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, n),
    CHECK ((cost IS NULL) = (currency IS NULL) AND (cost IS NULL) = (cost_by IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_usage_at ON turn_usage (at);
CREATE INDEX turn_usage_native ON turn_usage (native, at) WHERE native IS NOT NULL;

INSERT INTO turn_usage (run, n, at, native, lease, source, input, cached_read, cached_write, output, total)
SELECT r.id, 1, r.ended_at, s.native, s.lease, iif(r.usage IS NULL, NULL, 'agent'),
    min(CAST(r.usage ->> 'input' AS INTEGER), 1000000000000),
    min(CAST(r.usage ->> 'cached_read' AS INTEGER), 1000000000000),
    min(CAST(r.usage ->> 'cached_write' AS INTEGER), 1000000000000),
    min(CAST(r.usage ->> 'output' AS INTEGER), 1000000000000),
    min(CAST(r.usage ->> 'total' AS INTEGER), 1000000000000)
FROM run r LEFT JOIN staged s ON s.run = r.id
WHERE r.ended_at IS NOT NULL AND r.started_at IS NOT NULL;

-- What the agent's own count of a session's cost stood at, and how far its transcript was read.
ALTER TABLE session ADD COLUMN cost_seen INTEGER;
ALTER TABLE session ADD COLUMN transcript_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN transcript_request TEXT;

-- What may be spent in a day: by all agents (no channel), by those of a channel (no binding), or by one of them.
CREATE TABLE spending_limit (
    id INTEGER PRIMARY KEY,
    channel INTEGER REFERENCES channel,
    binding INTEGER REFERENCES binding,
    tokens INTEGER CHECK (tokens > 0),
    cost INTEGER CHECK (cost > 0),
    currency TEXT,
    CHECK (channel IS NOT NULL OR binding IS NULL),
    CHECK (tokens IS NOT NULL OR cost IS NOT NULL),
    CHECK ((cost IS NULL) = (currency IS NULL))
) STRICT;
CREATE UNIQUE INDEX spending_limit_place ON spending_limit (coalesce(channel, 0), coalesce(binding, 0));
