"""`elrcheck prove`: the properties by induction."""
