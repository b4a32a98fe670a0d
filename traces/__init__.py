"""Traces: read in every notation, replayed, shown, compared, shortened, walked and explained."""
