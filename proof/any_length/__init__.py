"""Sequences of any length in a proof for given sizes: a sample of their elements."""
