"""Renamings of the members of sorts, and the check that a model treats symmetric sorts alike."""
