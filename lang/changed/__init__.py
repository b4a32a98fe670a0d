"""Functions with one expression changed, alike in every reading; digests that notice a change."""
