"""The record of comparisons that `conform` keeps, and `conform --refresh`, which renews those that are stale."""
