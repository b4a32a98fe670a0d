"""Baselines and their parts for suites, read and written; guards by their earlier names."""
