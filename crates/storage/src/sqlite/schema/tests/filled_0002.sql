-- What the index of schema 2 has of the message of schema 1.
INSERT INTO search (search) VALUES ('rebuild');
