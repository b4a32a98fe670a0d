"""What a broker does: replication, metadata, its log, its ISR proposals."""
