"""Answers that are kept from one run to the next, and can be computed again."""
