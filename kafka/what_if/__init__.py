"""`elrcheck what-if`: one event, answered by the rules of the model."""
