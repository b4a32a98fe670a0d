"""Traces in files and by name: read in any notation, with the model and the configuration that they name."""
