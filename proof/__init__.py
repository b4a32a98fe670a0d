"""Proof obligations, discharged by Z3."""
