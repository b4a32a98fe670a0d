"""Lemmas that prove the properties by induction, and the assumptions of the proof."""
