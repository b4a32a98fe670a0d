"""The state of the controller: its image of the topics, the registered brokers, and its indexes.

The model has no brokers and no logs: a request of a broker may arrive whenever the controller would accept it.
Sources: ReplicationControlManager, BrokersToIsrs, BrokersToElrs, ClusterControlManager.
"""

from __future__ import annotations

import enum
from typing import Annotated, TypeVar

from elrcheck.lang.runtime import record, state
from elrcheck.lang.types import Per, nat, sort
from elrcheck.model.control_plane.controller_event import Decided
from elrcheck.model.replicas import RSet, Vec
from elrcheck.model.state import BrokerEpoch, Directory, MinIsr, Partition, Registration, Settings

T = TypeVar("T")
TOPIC = sort("Topic", "topics")
PART = sort("Part", "partitions", word="partition", ordered=True)

Topic = Annotated[int, TOPIC]
Part = Annotated[int, PART]
Place = tuple[Topic, Part]
Topics = Annotated[tuple[T, ...], Per(TOPIC)]
Grid = Annotated[tuple[Annotated[tuple[T, ...], Per(PART)], ...], Per(TOPIC)]
Entries = Annotated[int, nat("Entries", hi="most_entries")]


class Fault(enum.Enum):
    """The event that threw an exception, after which QuorumController resigns."""

    NONE = 0
    FENCING = 1
    UNFENCING = 2
    REGISTRATION = 3
    SHUTDOWN = 4
    UNREGISTRATION = 5
    FAILED_DIRECTORY = 6
    ELECTION = 7


@record
class PartControl:
    """The controller's image of one partition. directory: of each replica (PartitionRegistration.directories)."""

    partition: Partition
    directory: Vec[Directory]


@record
class TopicControl:
    """A topic by its name. min_isr: its min.insync.replicas. A recreated topic has another id."""

    exists: bool
    min_isr: MinIsr | None
    parts: Annotated[tuple[PartControl, ...], Per(PART)]


@record
class Indexes:
    """The indexes of partitions, by the ids of current topics.

    isrs: for each broker the partitions with it in the ISR, and whether it leads (BrokersToIsrs). leaderless: those
    under NO_LEADER there. elrs: the number of entries for each broker and partition, as the array of a topic may
    contain one twice (BrokersToElrs). directories: for the log directory that each broker uses
    (directoriesToPartitions). imbalanced: partitions that their first replica does not lead (imbalancedPartitions).
    `deleted_..`: brokers that an index still lists for the id of a deleted topic.
    """

    isrs: Vec[frozenset[tuple[Topic, Part, bool]]]
    leaderless: frozenset[Place]
    elrs: Vec[Grid[Entries]]
    directories: Vec[frozenset[Place]]
    imbalanced: frozenset[Place]
    deleted_isrs: RSet
    deleted_elrs: RSet
    deleted_directories: RSet


@record
class SpentByEvents:
    """Budgets spent so far; only the bound of a search reads them."""

    crashes: Annotated[int, nat("Crashes", cap="crashes")] = 0
    clean_stops: Annotated[int, nat("CleanStops", cap="clean_stops")] = 0
    fences: Annotated[int, nat("Fences", cap="fences")] = 0
    shrinks: Annotated[int, nat("Shrinks", cap="shrinks")] = 0
    shutdowns: Annotated[int, nat("Shutdowns", cap="shutdowns")] = 0
    unregistrations: Annotated[int, nat("Unregistrations", cap="unregistrations")] = 0
    elections: Annotated[int, nat("Elections", cap="elections")] = 0
    min_isr_changes: Annotated[int, nat("MinIsrChanges", cap="min_isr_changes")] = 0
    feature_changes: Annotated[int, nat("FeatureChanges", cap="feature_changes")] = 0
    directory_failures: Annotated[int, nat("DirectoryFailures", cap="directory_failures")] = 0
    deletions: Annotated[int, nat("Deletions", cap="deletions")] = 0
    snapshots: Annotated[int, nat("Snapshots", cap="snapshots")] = 0
    cuts: Annotated[int, nat("Cuts", cap="cuts")] = 0


@record
class EventRecords:
    """The records of an event. places: the partitions that it looked up; decided: the decision about each partition.

    registration: of the brokers afterwards. unknown: an index lists a topic that does not exist.
    """

    places: frozenset[Place]
    decided: Grid[Decided]
    registration: Vec[Registration]
    unknown: bool


@record
class Stable:
    """The controller's image at the last stable offset, to which a failover takes the next controller."""

    settings: Settings
    topics: Topics[TopicControl]
    registration: Vec[Registration]
    indexes: Indexes
    registered: RSet
    spent: SpentByEvents


@record
class Process:
    """The process of a broker, and what an answer of a controller told it.

    epoch: its broker epoch; 0 before the answer to its registration. earlier_epoch: the last one of an earlier process.
    proves: its clean-shutdown file has that epoch. may_stop: a heartbeat was answered with SHUTDOWN_NOW.
    """

    epoch: BrokerEpoch
    earlier_epoch: BrokerEpoch
    proves: bool
    may_stop: bool


@state
class ControllerState:
    """The state variables.

    settings: those of the cluster; a topic has its own min.insync.replicas. registration: of each broker; the image of
    the partition has its fields about a replica. registered: brokers whose registration is that of the process that
    runs now. fault: the event at which the controller resigned.

    With `loses_uncommitted` all of this is the image of the active controller, with what it has written. stable: with
    what is committed. Otherwise stable and processes never change.
    """

    settings: Settings
    topics: Topics[TopicControl]
    registration: Vec[Registration]
    indexes: Indexes
    registered: RSet
    fault: Fault
    spent: SpentByEvents
    stable: Stable
    processes: Vec[Process]
