"""`assess`: what is known about the losses of a release with these settings, and what a log of it shows."""
