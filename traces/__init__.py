"""Traces: read in every notation, followed by the plain model, described, explained."""
