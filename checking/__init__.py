"""A search and what belongs to it: engine, stored answers, liveness, findings replayed and stored, report."""
