"""Kafka's classes of several releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from support.kafka_jars import ALL, jars_or_skip

if TYPE_CHECKING:
    from elrcheck.kafka.kafka_oracle import BrokerOracle


@pytest.fixture(scope="module", params=ALL)
def broker(request: pytest.FixtureRequest) -> Iterator[BrokerOracle]:
    """kafka.cluster.Partition of each release."""
    from elrcheck.kafka.jars import Jars, from_maven
    from elrcheck.kafka.kafka_oracle import open_broker_oracle

    jars_or_skip(request.param)
    with open_broker_oracle(from_maven(request.param, Jars.BROKER)) as oracle:
        yield oracle
