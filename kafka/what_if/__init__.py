"""`elrcheck what-if`: decides one event by the rules of the model."""
