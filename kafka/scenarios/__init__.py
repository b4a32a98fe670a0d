"""Scenarios of the catalogue, played by the plain model."""
