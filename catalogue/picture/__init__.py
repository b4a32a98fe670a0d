"""The picture of a partition, which the explorer shows of a state."""
