-- Times are milliseconds since 1970 UTC. Words (`kind`, `status`, …) are those of the records.

CREATE TABLE channel (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    direct TEXT,
    created_at INTEGER NOT NULL,
    -- Number and time of the newest event.
    last_seq INTEGER NOT NULL DEFAULT 0,
    last_at INTEGER NOT NULL DEFAULT -9223372036854775807
) STRICT;

-- People and agents: one namespace, without regard to case.
CREATE TABLE member (
    folded TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('person', 'agent')),
    role TEXT CHECK ((role IS NOT NULL) = (kind = 'person')),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE binding (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    channel INTEGER NOT NULL REFERENCES channel,
    folded TEXT NOT NULL REFERENCES member,
    handle TEXT NOT NULL,
    preset TEXT NOT NULL,
    command TEXT NOT NULL,
    delivery TEXT NOT NULL,
    session TEXT NOT NULL,
    supervised INTEGER NOT NULL,
    env TEXT NOT NULL,
    model TEXT,
    cwd TEXT,
    instructions TEXT,
    created_at INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX binding_bound ON binding (channel, folded) WHERE removed_at IS NULL;

CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL REFERENCES channel,
    -- Root; NULL at the top level.
    thread INTEGER REFERENCES message,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    author_kind TEXT NOT NULL,
    author TEXT NOT NULL,
    native TEXT,
    run INTEGER REFERENCES run,
    text TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 1,
    edited_seq INTEGER,
    deleted_seq INTEGER,
    client_id TEXT
) STRICT;
-- Pages, and the count of new lines without a look at the table.
CREATE INDEX message_place ON message (channel, thread, seq, author_kind, deleted_seq);
CREATE UNIQUE INDEX message_client ON message (author_kind, author, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX message_native ON message (native, channel, thread, seq) WHERE native IS NOT NULL;
CREATE INDEX message_run ON message (run) WHERE run IS NOT NULL;
CREATE INDEX message_edited ON message (channel, thread, edited_seq) WHERE edited_seq IS NOT NULL;
CREATE INDEX message_deleted ON message (channel, thread, deleted_seq) WHERE deleted_seq IS NOT NULL;

-- The dense sequence of a channel.
CREATE TABLE event (
    channel INTEGER NOT NULL REFERENCES channel,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES message,
    PRIMARY KEY (channel, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL REFERENCES channel,
    binding INTEGER NOT NULL REFERENCES binding,
    message INTEGER NOT NULL REFERENCES message,
    status TEXT NOT NULL,
    error TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    usage TEXT,
    retry_of INTEGER REFERENCES run
) STRICT;
CREATE INDEX run_message ON run (message);
CREATE INDEX run_channel ON run (channel);
CREATE INDEX run_open ON run (id) WHERE ended_at IS NULL;

-- What a run's turn delivers.
CREATE TABLE staged (
    run INTEGER PRIMARY KEY REFERENCES run,
    native TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    lease TEXT NOT NULL,
    why TEXT NOT NULL,
    sent TEXT NOT NULL,
    system TEXT,
    omitted INTEGER NOT NULL,
    watermark_before TEXT,
    watermark_after TEXT
) STRICT;

-- Byte ranges of `staged.sent` where a message's text stands.
CREATE TABLE sent_part (
    run INTEGER NOT NULL REFERENCES staged,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    message INTEGER NOT NULL REFERENCES message,
    PRIMARY KEY (run, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_part_message ON sent_part (message);

-- What a session is told by a run: place 0 is the addressed message, the lines follow.
CREATE TABLE showing (
    run INTEGER NOT NULL REFERENCES staged,
    place INTEGER NOT NULL,
    native TEXT NOT NULL,
    message INTEGER NOT NULL REFERENCES message,
    revision INTEGER NOT NULL,
    committed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX showing_native ON showing (native, message, committed);

CREATE TABLE run_event (
    run INTEGER NOT NULL REFERENCES run,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
    binding INTEGER PRIMARY KEY REFERENCES binding,
    epoch INTEGER NOT NULL,
    raised_at INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    binding INTEGER NOT NULL REFERENCES binding,
    native TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    told TEXT NOT NULL,
    system TEXT,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER,
    ended_why TEXT
) STRICT;
CREATE INDEX session_binding ON session (binding);

-- The compact view of what was shown. `thread` 0 is the channel itself; message ids are as the record has them,
-- since an import may name messages that stand nowhere else.
CREATE TABLE watermark (
    binding INTEGER NOT NULL REFERENCES binding,
    channel INTEGER NOT NULL REFERENCES channel,
    thread INTEGER NOT NULL,
    native TEXT NOT NULL,
    last_at INTEGER NOT NULL,
    last_seq INTEGER,
    ids TEXT NOT NULL,
    waiting TEXT NOT NULL,
    PRIMARY KEY (binding, channel, thread)
) STRICT, WITHOUT ROWID;
