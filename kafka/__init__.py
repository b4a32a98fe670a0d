"""The real thing: Kafka's own classes, clusters and logs, and what compares the model with them."""
