"""A restarted process that acts on metadata before it is registered: its old broker epoch is still in force.

Sources: BrokerServer.startup installs the metadata publishers without waiting for the registration, and
MetadataLoader.stillNeedToCatchUp waits for the high watermark of the metadata quorum only. The first publish
(BrokerMetadataPublisher.initializeManagers, onMetadataUpdate) starts ReplicaManager and the coordinators, makes
the broker leader or follower, and has a coordinator complete what it finds (TransactionCoordinator.onElection).
Meanwhile ClusterControlManager.registerBroker answers DUPLICATE_BROKER_REGISTRATION until the session of the
process before has ended.

What follows, by class:
* SocketServer.enableRequestProcessing comes at the end of the startup, so no client writes to such a leader and
  no follower fetches from it. Its coordinators write (`WriteEarly`).
* A follower fetches with broker epoch -1 (BrokerLifecycleManager.brokerEpoch), here 0, which
  Partition.isBrokerEpochIsrEligible and ReplicationControlManager.ineligibleReplicasForIsr let through.
* Its AlterPartition requests are refused (STALE_BROKER_EPOCH, ReplicationControlManager.alterPartition), so that
  it proposes nothing here. One of the process before is still under way, and may be granted.

Left out: late fetches of such a process, and what it does between its registration and reading it.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Message, Unfair
from elrcheck.lang.runtime import action, put, require
from elrcheck.model.broker.acknowledgement import ProduceAnswer, produce_error
from elrcheck.model.broker.ghosts import observed
from elrcheck.model.broker.metadata import with_metadata
from elrcheck.model.broker.replica import appended
from elrcheck.model.choices import BeforeRegistration
from elrcheck.model.config import Config
from elrcheck.model.metadata_record import snapshot
from elrcheck.model.min_isr import known_min_isr
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Acks, Entry, State, Status


@action(message=Message("Controller", "b"), fairness=Unfair("a disturbance: registration may come first"))
def ApplyEarly(c: Config, s: State, b: Replica) -> State:
    """b, which is not registered yet, applies the newest record (BrokerMetadataPublisher.onMetadataUpdate).

    The first publish of a process counts; later ones, while registration is refused, are free. The logs are
    loaded with the newest min.insync.replicas (LogManager.startup).
    """
    broker = s.broker[b]
    require(c.early_starts > 0, "the scope has processes that act before they are registered")
    require(c.before_registration != BeforeRegistration.WAITS, "a process does not wait for its registration")
    require(broker.status == Status.STARTING, "b is starting")
    require(broker.view.partition_epoch < s.partition.partition_epoch, "there is newer metadata")
    leads = c.before_registration == BeforeRegistration.ACTS
    require(leads or s.partition.leader != b, "b does not lead, or may lead before it is registered")
    first = broker.early == 0
    loaded = replace(broker, min_isr=known_min_isr(c, s.settings, b)) if first else broker
    newest = snapshot(c, s.settings, s.partition)
    applied = with_metadata(c, s.settings, replace(loaded, early=1), b, newest, s.partition.partition_epoch)
    after = replace(applied, alter=broker.alter)
    spent = replace(s.spent, early_starts=s.spent.early_starts + 1 if first else s.spent.early_starts)
    return observed(c, s, replace(s, broker=put(s.broker, b, after), spent=spent), b)


@action(fairness=Unfair("a coordinator need not write"))
def WriteEarly(c: Config, s: State, leader: Replica) -> State:
    """A coordinator on a leader that is not registered appends a record to its own topic, with acks=all.

    TransactionMarkerChannelManager completes a prepared transaction (TransactionStateManager.appendTransactionToLog).
    """
    broker = s.broker[leader]
    require(c.early_writes > 0, "the partition is of an internal topic")
    require(broker.early > 0, "leader is not registered yet")
    require(len(broker.log) < c.log_slots, "the log has room")
    answer = produce_error(c, s.settings, broker, leader, Acks.ALL)
    require(answer == ProduceAnswer.WAITING, "leader leads by its own view, with min ISR members")
    spent = replace(s.spent, records=s.spent.records + 1, early_writes=s.spent.early_writes + 1)
    entry = Entry(id=s.spent.records + 1, epoch=broker.view.leader_epoch, acks=Acks.ALL)
    after = appended(c, s.settings, broker, leader, entry)
    written = replace(s, broker=put(s.broker, leader, after), spent=spent)
    return observed(c, s, written, leader)
