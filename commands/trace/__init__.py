"""`elrcheck trace`, `explain` and `replay`: show, compare, shorten and explain traces."""
