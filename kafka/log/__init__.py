"""Kafka's metadata log as it is stored: segments, snapshots, and the output of the dump tool."""
