"""Definitions of topics: output of Kafka's tools, resources of Strimzi and of Terraform."""
