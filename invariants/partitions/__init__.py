"""Properties of the controller with several partitions (`elrcheck.model.partitions`)."""

from __future__ import annotations

from elrcheck.invariants.partitions import index_properties, partition_properties

MODULES = (partition_properties, index_properties)
