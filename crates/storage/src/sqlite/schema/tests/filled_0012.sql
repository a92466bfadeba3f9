INSERT INTO turn_usage (run, n, at, input) VALUES (1, 9, 5, 7);
INSERT INTO spending_limit (channel, binding, tokens) VALUES (1, 1, 9);
