"""What reductions of a search take for the same state (ADR 42)."""
