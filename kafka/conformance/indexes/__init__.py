"""The controller's indexes, compared with what its partitions and registrations say."""
