"""`elrcheck audit`: checks the partitions in the metadata log of a real cluster."""
