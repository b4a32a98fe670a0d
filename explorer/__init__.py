"""Exhaustive search of the model's states, and the traces it finds."""
