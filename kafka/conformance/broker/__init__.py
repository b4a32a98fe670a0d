"""The broker side of `conform`: walks of one kafka.cluster.Partition, compared with the model's rules."""
