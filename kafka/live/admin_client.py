"""A connection to a running cluster, by KafkaAdminClient of kafka-python (docs/adr/0017-live-client.md).

Sends only requests that read. The library is imported when needed, and its output on stderr is suppressed.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.programs import Address, address, unreachable
from elrcheck.kafka.captured_warnings import captured_warnings
from elrcheck.kafka.live.client_properties import ClientSettings

ResultT = TypeVar("ResultT")
Answer: TypeAlias = Mapping[str, Any]
PACKAGE = Path(__file__).resolve().parents[2]
EXTRA = "pip install 'kafka-python>=3.0.12,<4'"
CONNECT = 10.0
"""Seconds for a first connection."""
PATIENCE = 60.0
"""Seconds to wait for an answer while brokers are not ready; a request that hangs is given up after ten."""
INTERVAL = 0.2
TOPIC = "TOPIC"


class Unanswered(Exception):
    """A broker does not answer this question: it does not know the request, or the user lacks the permission."""


def addresses(bootstrap: str) -> list[Address]:
    """Return the hosts and ports of HOST:PORT,..; raise UsageFault for anything else."""
    places = []
    for each in bootstrap.split(","):
        place = address(each)
        if place is None:
            help = "give HOST:PORT of one or more brokers, such as localhost:9092"
            raise UsageFault("bootstrap-address", f"`{each.strip()}` is not HOST:PORT", help=help)
        places.append(place)
    return places


@contextmanager
def open_client(bootstrap: str, settings: ClientSettings) -> Iterator[ClusterClient]:
    """Connect to a cluster; raise EnvironmentFault if that fails."""
    places = addresses(bootstrap)
    library = _library()
    with captured_warnings("kafka", most=3, ignored="not ready; waiting") as warnings:
        if reasons := unreachable(places, CONNECT):
            raise EnvironmentFault("cluster-unreachable", "no broker can be reached", excerpt="\n".join(reasons))
        admin = _connected(library, places, settings, warnings)
        try:
            yield ClusterClient(library, admin)
        finally:
            with suppress(Exception):  # the answers have arrived
                admin.close()


def _library() -> Any:
    """Return kafka.admin, with kafka.errors loaded, rather than this package's own folder `kafka`."""
    before = sys.path[:]
    sys.path[:] = [entry for entry in before if Path(entry or ".").resolve() != PACKAGE]
    try:
        admin = importlib.import_module("kafka.admin")
        importlib.import_module("kafka.errors")
    except ImportError as fault:
        message = "audit --bootstrap needs the package kafka-python"
        raise EnvironmentFault("live-client", message, help=EXTRA) from fault
    finally:
        sys.path[:] = before
    if not hasattr(admin.KafkaAdminClient, "describe_topic_partitions"):
        version = getattr(sys.modules["kafka"], "__version__", "unknown")
        message = f"kafka-python {version} cannot ask for the ELR"
        raise EnvironmentFault("live-client", message, help=EXTRA)
    return admin


def _connected(library: Any, places: Sequence[Address], settings: ClientSettings, warnings: deque[str]) -> Any:
    servers = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in places]
    errors = sys.modules["kafka.errors"]
    try:
        return library.KafkaAdminClient(bootstrap_servers=servers, **settings.options)
    except errors.IncompatibleBrokerVersion as fault:
        help = "give the address of a broker, not that of a controller"
        message = f"{', '.join(servers)} reports no partitions"
        raise EnvironmentFault("cluster-unreachable", message, help=help) from fault
    except errors.KafkaConfigurationError as fault:
        raise UsageFault("client-config", str(fault)) from fault
    except (errors.KafkaError, OSError, RuntimeError) as fault:
        message = f"{', '.join(servers)} does not answer as a broker ({type(fault).__name__})"
        help = "does --client-config fit this listener (security.protocol, SASL, certificates)?"
        raise EnvironmentFault("cluster-unreachable", message, excerpt="\n".join(warnings), help=help) from fault


class ClusterClient:
    """The requests of an audit to a cluster, repeated while brokers are not ready.

    Every method may raise Unanswered, or EnvironmentFault.
    """

    def __init__(self, library: Any, admin: Any) -> None:
        self._library, self._admin = library, admin
        self._errors = sys.modules["kafka.errors"]

    def features(self) -> Answer:
        return self._ask(self._admin.describe_features)

    def cluster(self) -> Answer:
        return self._ask(self._admin.describe_cluster)

    def quorum(self) -> Answer:
        return self._ask(self._admin.describe_metadata_quorum)

    def partitions(self, topics: Sequence[str], limit: int, cursor: Answer | None) -> Answer:
        """Return a page of partitions, of all topics if none is named."""
        return self._ask(self._admin.describe_topic_partitions, list(topics), limit, cursor)

    def topics(self) -> Sequence[Answer]:
        """Return the partitions of all topics by the older request, which has no ELR."""
        return self._ask(self._admin.describe_topics)

    def reassignments(self) -> Mapping[tuple[str, int], Answer]:
        return self._ask(self._admin.list_partition_reassignments)

    def configs(self, topics: Sequence[str], names: Sequence[str]) -> Mapping[str, Answer]:
        """Return settings of topics, with the sources of their values."""
        resources = [self._library.ConfigResource(TOPIC, topic, list(names)) for topic in topics]
        answer: Mapping[str, Mapping[str, Answer]] = self._ask(self._admin.describe_configs, resources, True, "all")
        return answer.get("topic", {})

    def _ask(self, request: Callable[..., ResultT], *arguments: object) -> ResultT:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return request(*arguments)
            except (self._errors.UnsupportedVersionError, self._errors.UnrecognizedBrokerVersion) as fault:
                raise Unanswered("the brokers do not offer this request") from fault
            except self._errors.AuthorizationError as fault:
                raise Unanswered("the user is not authorized") from fault
            except self._errors.KafkaError as fault:
                if not fault.retriable or time.monotonic() >= end:
                    message = f"the cluster did not answer: {type(fault).__name__}"
                    raise EnvironmentFault("cluster-unreachable", message, excerpt=str(fault)) from fault
            time.sleep(INTERVAL)
            # With KRaft, the "controller" of the library is any broker, which may be the one that hangs.
            self._admin._controller_id = None
