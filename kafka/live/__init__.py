"""A cluster that runs, asked over the network: read only, by the client library of the extra `live`."""
