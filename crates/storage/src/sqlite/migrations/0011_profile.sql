-- How much of the user's own configuration of an agent holds; agents from before go on as they are.
ALTER TABLE binding ADD COLUMN profile TEXT NOT NULL DEFAULT 'own' CHECK (profile IN ('own', 'tidy', 'lean'));
