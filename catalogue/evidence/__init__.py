"""The evidence of each finding in each release of Kafka, and its table."""
