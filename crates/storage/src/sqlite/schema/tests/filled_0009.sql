-- One row in each table that schema 9 added.
INSERT INTO hold VALUES (1, 'stopped', 1, 1);
INSERT INTO pause VALUES (1);
