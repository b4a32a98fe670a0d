"""Another model: the controller alone, with several topics and partitions and the indexes in which it looks them up."""

from __future__ import annotations

from elrcheck.model.partitions import broker_batches, controller_start, cut_batches, topic_events, uncommitted

MODULES = (controller_start, broker_batches, topic_events, cut_batches, uncommitted)
