"""A running cluster, queried read-only over the network by the client library of the extra `live`."""
