"""The answers of `elrcheck web`, and the picture of a state."""
