-- Full text of messages. The text itself stays in `message`; entries of deleted text leave the index bodily.

CREATE VIRTUAL TABLE search USING fts5 (
    text,
    content = 'message',
    content_rowid = 'id',
    columnsize = 0,
    prefix = '2 3',
    tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
INSERT INTO search (search) VALUES ('rebuild');
