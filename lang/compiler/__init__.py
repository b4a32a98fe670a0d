"""Compiles the source of a model's functions to the IR, on demand."""
