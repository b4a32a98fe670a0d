"""Definitions of topics: what Kafka's tools print, resources of Strimzi, and Terraform."""
