"""`elrcheck suite`: small configurations that combine operations with faults."""
