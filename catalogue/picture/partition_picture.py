"""The states of a partition as a Kafka engineer draws them."""

from __future__ import annotations

from elrcheck.catalogue.picture.drawn_state import drawn
from elrcheck.declared.state_picture import Drawing
from elrcheck.model.config import Config
from elrcheck.model.state import State
from elrcheck.report.html.html_partition import partition_picture
from elrcheck.report.html.page_template import source


class PartitionDrawing(Drawing):
    """The lanes of the brokers of one configuration."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.legend = source("partition_legend.html")

    def picture(self, state: State, before: State) -> str:
        """See `Drawing.picture`."""
        return partition_picture(drawn(self.config, state, before))
