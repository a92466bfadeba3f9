-- The project of a channel: a git repository on the server's machine.

CREATE TABLE project (
    channel INTEGER PRIMARY KEY REFERENCES channel,
    -- Its top folder.
    folder TEXT NOT NULL,
    -- A line for the shell that is run once in each new worktree.
    setup TEXT,
    -- Patterns of ignored files that are copied into each new worktree, as JSON.
    copies TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    -- Since when an owner trusts it.
    trusted_at INTEGER,
    -- What was asked last about files that are not trusted.
    asked TEXT
) STRICT;

-- Files with settings for agents that an owner trusts, each in the form that they had.
CREATE TABLE trusted_file (
    channel INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (channel, path, hash)
) STRICT, WITHOUT ROWID;

-- Worktrees of bindings.
CREATE TABLE worktree (
    id INTEGER PRIMARY KEY,
    binding INTEGER NOT NULL REFERENCES binding,
    -- Top folder of the project that it belongs to.
    project TEXT NOT NULL,
    -- Where it is, its branch, and its name within the repository; all NULL until it was made.
    path TEXT,
    branch TEXT,
    name TEXT,
    created_at INTEGER NOT NULL,
    -- When the project's set-up line has worked in it.
    set_up_at INTEGER,
    -- Since when its binding does not use it any more.
    retired_at INTEGER,
    -- Since when there is nothing of it on the disk.
    removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX worktree_used ON worktree (binding) WHERE retired_at IS NULL AND removed_at IS NULL;
