-- One row in each table of schema 1.
INSERT INTO channel (id, name, created_at, last_seq, last_at) VALUES (1, 'general', 1, 2, 2);
INSERT INTO member VALUES ('claude', 'claude', 'agent', NULL, 1);
INSERT INTO binding (id, name, channel, folded, handle, preset, command, delivery, session, supervised, env, created_at)
    VALUES (1, 'b-claude', 1, 'claude', 'claude', 'custom', '["agent"]', 'lean', 'resident', 1, '[]', 1);
INSERT INTO message (id, channel, seq, at, author_kind, author, text)
    VALUES (1, 1, 1, 1, 'user', 'aiko', '@claude a quince');
INSERT INTO event VALUES (1, 1, 1, 'message', 1);
INSERT INTO run (id, channel, binding, message, status, created_at) VALUES (1, 1, 1, 1, 'running', 1);
INSERT INTO staged (run, native, epoch, lease, why, sent, omitted)
    VALUES (1, 's1', 1, 'cold', 'first', '@claude a quince', 0);
INSERT INTO sent_part VALUES (1, 0, 16, 1);
INSERT INTO showing (run, place, native, message, revision, committed) VALUES (1, 0, 's1', 1, 1, 0);
INSERT INTO run_event VALUES (1, 1, 1, 'plan', '{}');
INSERT INTO lease VALUES (1, 1, 1);
INSERT INTO session (binding, native, epoch, told, begun_at) VALUES (1, 's1', 1, '{}', 1);
INSERT INTO watermark VALUES (1, 1, 0, 's1', 1, 1, '[]', '[]');
