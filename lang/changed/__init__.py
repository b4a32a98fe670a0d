"""Models with one expression changed, in every reading alike; digests that detect a change."""
