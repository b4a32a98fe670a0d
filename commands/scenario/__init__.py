"""Scenarios: stories of steps, and what each variant makes of them."""
