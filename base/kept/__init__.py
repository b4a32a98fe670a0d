"""Answers that are stored from one run to the next, and can be computed again."""
