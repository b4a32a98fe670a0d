"""Properties of the controller with several partitions (`elrcheck.model.partitions`)."""
