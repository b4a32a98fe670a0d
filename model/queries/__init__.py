"""Read-only questions to a cluster: DescribeTopicPartitions, metrics, request limits."""
