"""Read-only queries of a cluster: DescribeTopicPartitions, metrics, request limits."""
