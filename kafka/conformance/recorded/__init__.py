"""The record of comparisons of `conform`, and `conform --refresh`, which renews the stale ones."""
