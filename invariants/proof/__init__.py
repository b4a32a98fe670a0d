"""Proof obligations, and Z3, which discharges them."""
