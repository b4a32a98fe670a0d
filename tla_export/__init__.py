"""The same model and traces as TLA+ modules."""
