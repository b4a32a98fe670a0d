"""`assess`: the known losses of a release with these settings, and the signs of them in a log."""
