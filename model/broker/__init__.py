"""The broker: replication, metadata, its log, its ISR proposals."""
