"""The decisions of the controller about a partition, and the change builder that all of them go through."""
