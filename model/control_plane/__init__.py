"""What the controller decides about a partition, and the change builder all of it goes through."""
