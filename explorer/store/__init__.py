"""State storage: whole states or fingerprints in memory, level files on disk or on shared storage."""
