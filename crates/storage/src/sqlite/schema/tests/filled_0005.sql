-- One row in each table of schema 5 that is not filled from the start.
INSERT INTO log (n, at, kind, channel, message) VALUES (1, 1, 'message_added', 1, 1);
