-- One row in each table that schema 8 added.
INSERT INTO project (channel, folder, copies, set_at) VALUES (1, '/srv/project', '[]', 1);
INSERT INTO trusted_file VALUES (1, 'CLAUDE.md', 'aa');
INSERT INTO worktree (binding, project, created_at) VALUES (1, '/srv/project', 1);
