"""`elrcheck risk`: after which events a topic loses data, or stays without a leader."""
