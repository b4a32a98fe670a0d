"""Reads the source of a model's functions: expressions, calls, whole functions, and which are compiled when."""
