"""Pages of evidence and the results of hunts, for the scripts in docs/; no verb needs them."""
