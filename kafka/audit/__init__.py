"""`elrcheck audit`: what the metadata log of a real cluster says about its partitions."""
