"""`elrcheck risk`: finds the events after which a topic loses data, or stays without a leader."""
