"""Names to things: variants, scopes, hazards, scenarios, and what `list` and `show` know of them."""
