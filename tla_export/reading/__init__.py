"""TLA+ values, ITF and what TLC prints, read into states."""
