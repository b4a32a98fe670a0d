"""A real KRaft cluster on this machine: its processes, its settings and its clients."""
