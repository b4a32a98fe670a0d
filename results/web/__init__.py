"""The answers of `elrcheck web`."""
