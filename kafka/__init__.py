"""Kafka itself: its own classes, clusters and logs, and the comparisons of the model with them."""
