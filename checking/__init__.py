"""A search and what belongs to it: engine, kept answers, liveness, findings replayed and stored, report."""
