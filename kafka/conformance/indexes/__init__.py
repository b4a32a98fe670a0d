"""Compares the controller's indexes with its partitions and registrations."""
