"""Read TLA+ values, ITF files and TLC's output into states."""
