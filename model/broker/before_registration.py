"""A restarted process that acts on metadata before it is registered, while its old broker epoch is still valid.

Sources: BrokerServer.startup installs the metadata publishers without waiting for the registration, and
MetadataLoader.stillNeedToCatchUp only waits for the high watermark of the metadata quorum. The first publish
(BrokerMetadataPublisher.initializeManagers, onMetadataUpdate) starts ReplicaManager and the coordinators, makes the
broker leader or follower, and lets a coordinator complete pending transactions (TransactionCoordinator.onElection).
Meanwhile ClusterControlManager.registerBroker responds with DUPLICATE_BROKER_REGISTRATION until the session of the
previous process has expired.

Consequences, by class:
* SocketServer.enableRequestProcessing comes at the end of the startup, so no client writes to such a leader and no
  follower fetches from it. Its coordinators do write (`WriteEarly`).
* A follower fetches with broker epoch -1 (BrokerLifecycleManager.brokerEpoch), here 0, which passes
  Partition.isBrokerEpochIsrEligible and ReplicationControlManager.ineligibleReplicasForIsr.
* The controller rejects its AlterPartition requests (STALE_BROKER_EPOCH, ReplicationControlManager.alterPartition), so
  it proposes nothing here. A request of the previous process may still be in flight, and may be granted.

Omitted: late fetches of such a process, and the time from its registration until it has read it.
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
    """b applies the newest record before it is registered (BrokerMetadataPublisher.onMetadataUpdate).

    The first publish of a process is budgeted; later ones before the registration are free. LogManager.startup loads
    the logs with the newest min.insync.replicas.
    """
    broker = s.broker[b]
    require(c.early_starts > 0, "the scope has processes that act before they are registered")
    require(c.before_registration != BeforeRegistration.WAITS, "processes do not wait for their registration")
    require(broker.status == Status.STARTING, "b is starting")
    require(broker.view.partition_epoch < s.partition.partition_epoch, "there is newer metadata")
    leads = c.before_registration == BeforeRegistration.ACTS
    require(leads or s.partition.leader != b, "b is not the leader, or may lead before it is registered")
    first = broker.early == 0
    loaded = replace(broker, min_isr=known_min_isr(c, s.settings, b)) if first else broker
    newest = snapshot(c, s.settings, s.partition)
    applied = with_metadata(c, s.settings, replace(loaded, early=1), b, newest, s.partition.partition_epoch)
    after = replace(applied, alter=broker.alter)
    spent = replace(s.spent, early_starts=s.spent.early_starts + 1 if first else s.spent.early_starts)
    return observed(c, s, replace(s, broker=put(s.broker, b, after), spent=spent), b)


@action(fairness=Unfair("a coordinator need not write"))
def WriteEarly(c: Config, s: State, leader: Replica) -> State:
    """A coordinator on an unregistered leader appends a record to its own topic, with acks=all.

    TransactionMarkerChannelManager completes a prepared transaction (TransactionStateManager.appendTransactionToLog).
    """
    broker = s.broker[leader]
    require(c.early_writes > 0, "the topic is internal")
    require(broker.early > 0, "leader acts before it is registered")
    require(len(broker.log) < c.log_slots, "the log has room")
    answer = produce_error(c, s.settings, broker, leader, Acks.ALL)
    require(answer == ProduceAnswer.WAITING, "leader leads in its own view, with min ISR members")
    spent = replace(s.spent, records=s.spent.records + 1, early_writes=s.spent.early_writes + 1)
    entry = Entry(id=s.spent.records + 1, epoch=broker.view.leader_epoch, acks=Acks.ALL)
    after = appended(c, s.settings, broker, leader, entry)
    written = replace(s, broker=put(s.broker, leader, after), spent=spent)
    return observed(c, s, written, leader)
