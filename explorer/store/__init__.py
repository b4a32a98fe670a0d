"""Where states are: whole in memory, as fingerprints, on disk, on shared storage."""
