"""The picture of a state, by its fields or as a partition."""
