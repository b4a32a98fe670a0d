"""Scenarios: scripted steps, and how each variant behaves under them."""
