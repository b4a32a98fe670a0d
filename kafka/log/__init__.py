"""Kafka's metadata log as it is stored: segments, snapshots, and what the dump tool prints of them."""
