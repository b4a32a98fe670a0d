"""Obligations of reductions of a search: states that count as the same, steps that commute (ADR 42)."""
