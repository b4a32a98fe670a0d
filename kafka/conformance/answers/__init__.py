"""Kafka's answers kept in files, and the model compared with them without Java."""
