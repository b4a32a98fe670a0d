"""The report of `elrcheck risk`."""
