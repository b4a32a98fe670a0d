"""`elrcheck sweep`: check every configuration of a grid, in processes or Spark tasks."""
