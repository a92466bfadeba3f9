-- Sessions that outlive their process, and what a binding wants of those that nobody caches any more.

-- Why it cannot be reloaded; NULL if it can.
ALTER TABLE session ADD COLUMN unreloadable TEXT;
-- Since when it has no process, and why the last one ended.
ALTER TABLE session ADD COLUMN saved_at INTEGER;
ALTER TABLE session ADD COLUMN saved_why TEXT;
-- When it was last given a prompt, or answered one.
ALTER TABLE session ADD COLUMN turn_at INTEGER;
UPDATE session SET unreloadable = 'an earlier version of Highwater began it';

ALTER TABLE binding ADD COLUMN when_cold TEXT NOT NULL DEFAULT 'reload';
