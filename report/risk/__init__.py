"""`elrcheck risk` as text."""
