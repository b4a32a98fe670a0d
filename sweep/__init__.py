"""`elrcheck sweep`: many configurations, each checked as by `elrcheck check`."""
