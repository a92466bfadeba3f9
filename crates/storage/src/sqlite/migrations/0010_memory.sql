-- How much memory an agent's processes may have, in bytes; NULL: what the server's configuration says.
ALTER TABLE binding ADD COLUMN memory_max INTEGER CHECK (memory_max > 0);
