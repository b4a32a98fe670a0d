"""What renaming members does to values, and what a model may not ask of members that are alike."""
