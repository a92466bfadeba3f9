-- One row in each table that schema 3 added.
INSERT INTO member VALUES ('zoe', 'zoe', 'person', 'owner', 1);
INSERT INTO member VALUES ('zoë', 'zoë', 'person', 'owner', 1);
INSERT INTO person (id, folded) VALUES (1, 'zoe');
INSERT INTO former_name VALUES ('zoë', 1);
INSERT INTO membership VALUES (1, 1, 'manager', 1);
INSERT INTO credential (kind, hash, person, label, scopes, created_at) VALUES ('token', 'aa', 1, 'ci', '["read"]', 1);
