"""`elrcheck sweep`: a grid of configurations, each checked, in processes or Spark tasks."""
