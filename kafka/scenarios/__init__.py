"""Scenarios of the catalogue, replayed by the plain model."""
