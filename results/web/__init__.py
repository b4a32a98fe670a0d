"""What `elrcheck web` answers, and the picture of a state."""
