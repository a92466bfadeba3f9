-- One row in each table that schema 7 added.
INSERT INTO permission (id, run, asked, asked_at, until)
    VALUES (1, 1, '{"title":"x","kind":"execute","tool":null,"details":[],"options":[]}', 1, 2);
