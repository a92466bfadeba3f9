-- People with an identity of their own, membership of channels, and what proves who somebody is.

-- A person is who they are under whichever name; names stand in `member`, the namespace, and stay taken.
CREATE TABLE person (
    id INTEGER PRIMARY KEY,
    -- The present name.
    folded TEXT NOT NULL UNIQUE REFERENCES member,
    deactivated_at INTEGER,
    -- Argon2, in the PHC string form.
    password TEXT
) STRICT;
INSERT INTO person (folded) SELECT folded FROM member WHERE kind = 'person' ORDER BY created_at, folded;

-- Names that a person had before: nobody else may take them, since old messages show them.
CREATE TABLE former_name (
    folded TEXT PRIMARY KEY REFERENCES member,
    person INTEGER NOT NULL REFERENCES person
) STRICT, WITHOUT ROWID;

ALTER TABLE channel ADD COLUMN access TEXT NOT NULL DEFAULT 'public' CHECK (access IN ('public', 'private'));
ALTER TABLE channel ADD COLUMN topic TEXT NOT NULL DEFAULT '';
ALTER TABLE channel ADD COLUMN archived_at INTEGER;
UPDATE channel SET access = 'private' WHERE direct IS NOT NULL;

ALTER TABLE binding ADD COLUMN addressed_by TEXT NOT NULL DEFAULT 'members';

-- Who wrote a message, whatever their name was; NULL for agents and notices.
ALTER TABLE message ADD COLUMN person INTEGER REFERENCES person;
UPDATE message SET person = (
    SELECT p.id FROM member m JOIN person p ON p.folded = m.folded WHERE m.name = message.author
) WHERE author_kind = 'user';
CREATE UNIQUE INDEX message_person_client ON message (person, client_id)
    WHERE person IS NOT NULL AND client_id IS NOT NULL;

CREATE TABLE membership (
    channel INTEGER NOT NULL REFERENCES channel,
    person INTEGER NOT NULL REFERENCES person,
    rank TEXT NOT NULL CHECK (rank IN ('manager', 'member')),
    since INTEGER NOT NULL,
    PRIMARY KEY (channel, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_person ON membership (person);
-- All people are members of all public channels that were there; the owner manages them.
INSERT INTO membership (channel, person, rank, since)
    SELECT c.id, p.id, iif(m.role = 'owner', 'manager', 'member'), c.created_at
    FROM channel c, person p JOIN member m ON m.folded = p.folded WHERE c.direct IS NULL;
-- A direct conversation belongs to the person who began it, else to the owner.
INSERT INTO membership (channel, person, rank, since)
    SELECT c.id, begun.person, 'manager', c.created_at
    FROM channel c JOIN (
        SELECT c.id AS channel, coalesce(
            (SELECT m.person FROM message m WHERE m.channel = c.id AND m.person IS NOT NULL ORDER BY m.seq LIMIT 1),
            (SELECT p.id FROM person p JOIN member m ON m.folded = p.folded WHERE m.role = 'owner' ORDER BY p.id LIMIT 1)
        ) AS person
        FROM channel c WHERE c.direct IS NOT NULL
    ) begun ON begun.channel = c.id
    WHERE begun.person IS NOT NULL;

-- Tokens, sign-ins and one-time links: the secrets themselves stand nowhere.
CREATE TABLE credential (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('token', 'sign-in', 'link')),
    -- SHA-256 of the secret.
    hash TEXT NOT NULL UNIQUE,
    -- SHA-256 of the second secret of a sign-in.
    proof TEXT CHECK ((proof IS NOT NULL) = (kind = 'sign-in')),
    person INTEGER NOT NULL REFERENCES person,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    ended_at INTEGER
) STRICT;
CREATE INDEX credential_person ON credential (person);
