"""Resolves names to variants, scopes, hazards and scenarios, and describes them for `list` and `show`."""
