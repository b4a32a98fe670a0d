"""Functions with one expression changed, alike in every reading."""
