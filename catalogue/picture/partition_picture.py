"""The states of a partition as a Kafka engineer draws them, and its steps as an operator tells them."""

from __future__ import annotations

from elrcheck.catalogue.picture.drawn_state import drawn
from elrcheck.catalogue.picture.step_sentence import whole_sentence
from elrcheck.declared.state_picture import Drawing
from elrcheck.lang.plain import Label
from elrcheck.model.config import Config
from elrcheck.model.state import State
from elrcheck.results.drawn.drawn_partition import DrawnPartition


class PartitionDrawing(Drawing):
    """The lanes of the brokers of one configuration."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def drawn(self, state: State, before: State) -> DrawnPartition:
        """See `Drawing.drawn`."""
        return drawn(self.config, state, before)

    def sentence(self, before: State, after: State, label: Label) -> str:
        """See `Drawing.sentence`."""
        return whole_sentence(before, after, label)
