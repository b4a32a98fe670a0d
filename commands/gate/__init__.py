"""`elrcheck gate` and its baseline file."""
