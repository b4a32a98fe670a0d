"""What `conform` keeps of its comparisons, and how `conform --refresh` renews those that are stale."""
