-- Showings that an agent fetched itself with its tool for history, beside what its turn told it.

ALTER TABLE showing ADD COLUMN fetched INTEGER NOT NULL DEFAULT 0;
