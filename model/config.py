"""The constants of the model: sizes, protocol knobs and budgets of disturbances.

A knob defaults to what the KIP intends (`kip_full`); `elrcheck.model.variants` lists the knobs of released code. The
docstring of a knob, which `elrcheck list knobs` prints, cites rows (C-n) and findings (F-n) of `docs/semantics.md`.
Budgets bound disturbances only (crashes, fencing, ISR shrinks, writes); recovery (restart, fetching) is unbounded.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from elrcheck.lang.runtime import config
from elrcheck.lang.source import near
from elrcheck.model.choices import (
    AcksAdmission,
    AlterReject,
    BalancedEnd,
    BeforeRegistration,
    CandidateChoice,
    CleanCheck,
    EpochFile,
    FetchFencing,
    HwmGate,
    LastKnownLeader,
    LklRule,
    LklStorage,
    LostDirectory,
    MinIsrChange,
    MinIsrPropagation,
    Propagation,
    ReassignGate,
    RecoveryQuorum,
    RecoveryStrategy,
    Reelection,
    Reregistration,
    ResponseRecords,
    Truncation,
)
from elrcheck.model.replicas import RSet, Universe

SECTIONS = {
    "broker_count": "sizes",
    "elr_enabled": "the features of a version",
    "clean_check": "the controller",
    "hwm_gate": "the leader",
    "truncation": "the follower",
    "metadata": "fidelity: how brokers learn, what the network may do",
    "records": "budgets of a search",
}
"""The first field of each group of fields, and what the group is about."""


@config
class Config:
    """One configuration. All engines, the proof and the TLA+ module read the same fields."""

    broker_count: int = 3
    """Brokers. Each hosts a replica of the partition at the start, except the spare ones."""
    spare_brokers: int = 0
    """Brokers without a replica at the start, those with the highest ids; a reassignment may target them."""
    min_isr: int = 2
    """min.insync.replicas of the topic at the start, capped at the number of replicas (C-17)."""
    partition_zero_replicas: int = 0
    """Replicas of partition 0, which caps min ISR (getTopicEffectiveMinIsr, C-17, F-31); 0: it is the one modelled."""
    topic_has_min_isr: bool = True
    """The topic overrides min.insync.replicas at the start; otherwise the cluster's value applies."""
    log_slots: int = 2
    """Maximum length of a log; the only bound on data that a proof also has."""

    elr_enabled: bool = True
    """The controller tracks Eligible Leader Replicas at the start (C-29)."""
    strict_hwm: bool = True
    """The high watermark advances only while the ISR has min ISR members (C-18, F-39)."""
    unclean_leader_election_enable: bool = False
    """unclean.leader.election.enable of the topic at the start; with a recovery manager it may only be false."""
    unclean_recovery_strategy: RecoveryStrategy = RecoveryStrategy.BALANCED
    elect_leaders_v3: bool = True
    """ElectLeaders supports designation and longest-log elections (version 3, C-31)."""
    bump_leader_epoch_on_isr_shrink: bool = False
    """An ISR shrink bumps the leader epoch, as in metadata versions before 3.6 (KAFKA-15021)."""
    recovery_state_supported: bool = True
    """An unclean election marks the leader RECOVERING, as in metadata versions since 3.2 (KIP-704)."""

    clean_check: CleanCheck = CleanCheck.EPOCH
    last_known_leader: LastKnownLeader = LastKnownLeader.NEVER
    lkl_storage: LklStorage = LklStorage.SEPARATE
    lkl_rule: LklRule = LklRule.EMPTIED
    lkl_stores_none: bool = False
    """A leaderless partition may store -1 as its last known leader; 4.0 then elects -1 (canElectLastKnownLeader)."""
    strangers_fail: bool = True
    """An election fails if it tests an active broker that is not a replica yet (PartitionRegistration.directory)."""
    rereg_without_elr: Reregistration = Reregistration.FENCE
    elr_intersect_replicas: bool = True
    """The ELR contains replicas only (C-9, F-20)."""
    elr_minus_isr: bool = True
    """All members of the new ISR leave the ELR, not only members of the old ISR (C-10, F-45)."""
    recheck_elr_after_election: bool = True
    """The controller reapplies the ELR rule after an election has changed the ISR (C-49, F-27)."""
    downgrade_ignores_elr: bool = True
    """Once ELR is off, the controller ignores a stored ELR at once, not only from the next change (C-30, F-28)."""
    feature_on_clears_elr: bool = True
    """Enabling ELR drops an ELR stored before it was disabled (KIP-966 "Compatibility", F-56)."""
    reassign_gate: ReassignGate = ReassignGate.KIP
    cancel_gate: bool = True
    """The controller refuses to cancel a reassignment that would leave fewer than min ISR members (C-22, E-20)."""
    cancel_forces_first_replica: bool = False
    """Cancelling with an empty ISR puts the first replica into it, if the topic allows unclean elections (C-50)."""
    min_isr_change: MinIsrChange = MinIsrChange.KIP
    min_isr_change_bumps_partition_epoch: bool = False
    """A write of min.insync.replicas also writes a partition record, which neither the KIP nor any release does."""
    unregister_prunes_elr: bool = True
    """Unregistering a broker removes it from the ELR, not only from the ISR (C-28, F-21)."""
    unknown_id_is_unclean: bool = True
    """Registering an id that is not registered counts as an unclean shutdown (ClusterControlManager, F-21)."""
    elr_index_goes_stale: bool = False
    """Clearing the ELR for a new min.insync.replicas leaves BrokersToElrs stale (removeTopicElrs); LATEST only."""
    dirs_wipe_elr: bool = False
    """Assigning replicas to directories builds the change as if ELR were off, which wipes the ELR (C-43, F-23)."""
    choice: CandidateChoice = CandidateChoice.ORDER
    """Which of several candidates wins an election. ANY: the replica that FavourReplica has chosen before."""
    last_known_in_every_election: bool = False
    """Preferred and unclean elections also try the last known leader, and try it first (C-6, C-8, F-29)."""
    keep_min_isr: bool = False
    """Only an unclean shutdown removes a broker from an ISR of min ISR members (rejected, E-8)."""
    retarget_overwrites: bool = True
    """Retargeting a reassignment replaces the old adding or removing replicas even by an empty list (B.7)."""
    recovery_quorum: RecoveryQuorum = RecoveryQuorum.KIP
    balanced_end: BalancedEnd = BalancedEnd.ACTIVE
    unclean_election_clears_last_known: bool = False
    """An unclean election empties LastKnownELR. The KIP empties it only when the ISR reaches min ISR."""
    log_info_checks: bool = True
    """Log info counts only for the registered incarnation and the current leader epoch (F-43)."""
    election_ends_recovery: bool = True
    """A clean election aborts a running recovery (E-26)."""
    empty_isr_without_elr: bool = False
    """The ISR may become empty without ELR, too (rejected, E-9)."""
    shadow_isr: bool = False
    """Members that leave an ISR below min ISR stay in a shadow ISR; the last one recovers from it (rejected, E-10)."""
    sync_may_be_skipped: bool = False
    """Such a leader serves without copying if it cannot reach any shadow member (E-10)."""
    alter_checks_fenced: bool = True
    """AlterPartition rejects fenced and shutting-down members (KIP-841, F-4)."""
    alter_checks_epochs: bool = True
    """AlterPartition checks the broker epochs of the members (KIP-903, F-5)."""
    register_before_fence: bool = True
    """A broker with an expired session may register before the controller has fenced it (B.3 rule 1, F-2)."""
    lost_directory: LostDirectory = LostDirectory.REGISTRATION
    heartbeat_in_one_snapshot: bool = False
    """One heartbeat may unfence a broker and report a failed directory: both records have the same base (F-66)."""
    report_elects: bool = True
    """Reporting an online directory of a replica may elect it; Kafka tests the directory recorded before."""
    assigns_before_registration: bool = False
    """A starting broker may report a directory with the epoch of its previous incarnation (AssignmentsManager)."""

    hwm_gate: HwmGate = HwmGate.COMMITTED
    maximal_isr: bool = True
    """The high watermark waits for the maximal ISR, not only for the committed ISR (F-41)."""
    join_requires_epoch_start: bool = True
    """A follower joins the ISR only at the start of the leader epoch, too, not only at the high watermark (F-11)."""
    alter_reject: AlterReject = AlterReject.KEEP
    answer_needs_proposal: bool = True
    """A leader ignores a response whose proposal is no longer pending (Partition.submitAlterPartition)."""
    known_record_ends_proposal: bool = False
    """The record of an ISR change that a response announced cancels a newer proposal (Partition.makeLeader)."""
    alter_retries: bool = True
    """A leader retries an AlterPartition that got no usable response (KAFKA-14010, F-46)."""
    proposal_names_proof: bool = True
    """A proposal carries the broker epoch of the fetch that qualified the joining replica (KAFKA-15221, F-13)."""
    leader_caches_epoch: bool = True
    """A new leader caches its epoch and log end offset before its first record (KAFKA-7415, F-10)."""
    ignores_failed_fetches: bool = True
    """A leader does not update the follower state on a diverging fetch (KAFKA-13141, KAFKA-8400, F-46)."""
    waits_for_unknown: bool = True
    """The high watermark waits for followers whose log end offset the leader does not know yet (KAFKA-10301, F-46)."""
    reelection: Reelection = Reelection.RESET
    """The follower state that a leader retains into a later epoch, if it did not step down in between (F-51)."""
    acks_admission: AcksAdmission = AcksAdmission.COMMITTED

    truncation: Truncation = Truncation.EVERY_FETCH
    fetch_fencing: FetchFencing = FetchFencing.BOTH
    epoch_file: EpochFile = EpochFile.WITH_LOG
    response_checks_epoch: bool = True
    """A follower drops a fetch response of another leader epoch (KAFKA-18991, F-14)."""
    response_checks_leader: bool = True
    """A follower drops a fetch response of a leader that it no longer follows (KAFKA-13207, F-18)."""
    response_checks_records: bool = True
    """A follower does not append records of a later epoch than the one in its fetch (KAFKA-18723, F-18)."""
    response_records: ResponseRecords = ResponseRecords.FILE
    applies_equal_epoch: bool = True
    """A broker also applies metadata with the leader epoch that it already has (KAFKA-13790, F-34)."""
    metadata: Propagation = Propagation.LATEST
    registration_catch_up: bool = True
    """A restarted broker reads metadata up to its own registration before it acts on any (F-15)."""
    before_registration: BeforeRegistration = BeforeRegistration.WAITS
    min_isr_propagation: MinIsrPropagation = MinIsrPropagation.ATOMIC
    """Every release applies topics before configurations in a publish (BrokerMetadataPublisher, C-16, F-24)."""
    alter_answer_carries_min_isr: bool = False
    """A successful AlterPartition response carries min.insync.replicas, as none of the versions 0 to 3 does."""
    directories_assigned: bool = True
    """The controller knows the log directory of every replica at the start (KIP-858)."""
    response_loss: bool = True
    """An AlterPartition response may be lost; the leader then retries the request."""
    fetch_loss: bool = True
    """A fetch response may be lost after the leader has updated the follower state."""
    skips_no_news: bool = False
    """A follower skips a record that changes nothing for it (ADR 0008)."""
    forgets: bool = False
    """The state drops broker epochs that no rule will compare again (ADR 0009)."""
    tracks_acks: bool = False
    """The state records acknowledged acks=all writes, for P-33 and P-34; this distinguishes more states."""

    records: int = 2
    """Records that producers write, with any setting of acks."""
    acks_one: int = 1
    """Of these, records that may be written with acks=1."""
    acks_zero: int = 0
    """Of these, records that may be written with acks=0."""
    crashes: int = 1
    """Crashes of a broker; each may lose any suffix of its log."""
    kills: int = 0
    """Kills of a broker process that lose nothing, because the operating system survives."""
    clean_stops: int = 0
    """Clean stops of a broker, which write a clean-shutdown file."""
    fences: int = 1
    """Fencings of a live broker; fencing a dead one is free."""
    shrinks: int = 1
    """ISR shrinks that a leader proposes."""
    shutdowns: int = 0
    """Controlled shutdowns that a broker requests."""
    shutdown_timeouts: int = 0
    """Controlled shutdowns that end without the grant, but just as cleanly, because the broker's timeout expires."""
    unregistrations: int = 0
    """Brokers that an operator unregisters."""
    live_unregistrations: int = 0
    """Of these, brokers whose process is alive."""
    elections: int = 0
    """Preferred leader elections, by ElectLeaders or by the leader balancer."""
    unclean_elections: int = 0
    """ElectLeaders requests that may lose data: unclean, designated, longest log."""
    reassignments: int = 0
    """Reassignments started or retargeted; cancelling one is free."""
    min_isr_changes: int = 0
    """Changes of min.insync.replicas."""
    unclean_changes: int = 0
    """Changes of unclean.leader.election.enable; for variants without a recovery manager, which the KIP has instead."""
    feature_changes: int = 0
    """Upgrades and downgrades of the ELR feature."""
    directory_changes: int = 0
    """Assignments of replicas to log directories."""
    directory_failures: int = 0
    """Log directories that fail while their broker runs."""
    directory_losses: int = 0
    """Log directories that are lost while their broker is down."""
    directory_returns: int = 0
    """Failed log directories that come back with their data before the broker starts again."""
    failovers: int = 0
    """Controller failovers during a recovery of the partition; others have no effect here."""
    late_answers: int = 0
    """AlterPartition requests that newer metadata overtakes, so that their response arrives late."""
    late_fetches: int = 0
    """Fetches whose response is delayed, so that other events come in between."""
    early_starts: int = 0
    """Restarted processes that act on metadata before they are registered, if `before_registration` allows it."""
    early_writes: int = 0
    """Records that a coordinator appends on an unregistered leader; the topic is then an internal one."""
    late_flushes: int = 0
    """Processes that end while the file of the leader epoch cache still has an entry that a truncation removed."""
    old_checkpoints: int = 0
    """Processes that start from an older high watermark than the last one: the checkpoint is periodic."""

    @property
    def brokers(self) -> RSet:
        """All broker ids, in ascending order."""
        return Universe(range(self.broker_count))

    @property
    def disturbances(self) -> int:
        """Budgeted events after which the controller removes a broker from the ISR."""
        down = self.crashes + self.kills + self.clean_stops + self.shutdowns + self.unregistrations
        return down + self.fences + self.directory_failures + self.directory_losses

    @property
    def operations(self) -> int:
        """Budgeted requests of an operator that change the partition, at once or through the election they allow."""
        writes = self.min_isr_changes + self.unclean_changes + self.feature_changes + self.directory_changes
        return self.elections + self.unclean_elections + self.reassignments + writes

    @property
    def most_stale(self) -> int:
        """The maximum number of stale entries of a broker in the index of ELR members."""
        return self.min_isr_changes if self.elr_index_goes_stale else 0

    @property
    def metadata_slots(self) -> int:
        """The length of the metadata log; 0 if no broker can lag behind."""
        return self.cap_partition_epoch if self.metadata == Propagation.LOG else 0

    @property
    def promise_slots(self) -> int:
        """Distinct promises about committed records: one for each value of min ISR, if it can change."""
        changes = self.min_isr_changes + self.reassignments + self.feature_changes
        return self.broker_count if changes > 0 else 0

    @property
    def acked_slots(self) -> int:
        """Acknowledged records that the state stores."""
        return self.records if self.tracks_acks else 0

    @property
    def most_overtaken(self) -> int:
        """1 if metadata may overtake a leader's AlterPartition exchange."""
        return min(self.late_answers, 1)

    @property
    def most_ahead(self) -> int:
        """1 if it matters whether a leader has read the record of a change that a response announced."""
        return self.most_overtaken if self.known_record_ends_proposal else 0

    @property
    def most_early(self) -> int:
        """1 if a process may act before it is registered."""
        return 0 if self.before_registration == BeforeRegistration.WAITS else min(self.early_starts, 1)

    @property
    def most_stray_offset(self) -> int:
        """The maximum start offset of a stale entry in the leader epoch cache or its file."""
        return self.log_slots if self.epoch_file == EpochFile.LATER and self.late_flushes > 0 else 0

    @property
    def most_checkpoint(self) -> int:
        """The maximum checkpointed high watermark, if a process may start from an older one than the last."""
        return self.log_slots if self.old_checkpoints > 0 else 0

    @property
    def detached_slots(self) -> int:
        """Records on a failed log directory, if it may come back with them."""
        return self.log_slots if self.directory_returns > 0 else 0

    @property
    def late_slots(self) -> int:
        """Late fetches in flight at the same time."""
        return min(self.late_fetches, 1)

    @property
    def most_settled(self) -> int:
        """1 if a follower may stop comparing its log with the leader's."""
        return 0 if self.truncation in (Truncation.EVERY_FETCH, Truncation.HIGH_WATERMARK) else 1

    @property
    def most_carried(self) -> int:
        """1 if a leader may retain the log end offset of a follower from an earlier epoch."""
        return 0 if self.reelection == Reelection.RESET else 1

    @property
    def most_min_isr(self) -> int:
        """The maximum min.insync.replicas that a change may set; a greater one makes no difference."""
        return max(self.broker_count, self.min_isr)

    @property
    def most_known_min_isr(self) -> int:
        """The maximum min.insync.replicas that a broker may have applied; 0 if it never changes."""
        return self.most_min_isr if self.min_isr_changes > 0 else 0

    @property
    def most_due_min_isr(self) -> int:
        """The maximum min.insync.replicas that a broker may have read and not applied yet."""
        topics_first = self.min_isr_propagation == MinIsrPropagation.TOPICS_FIRST
        return self.most_known_min_isr if topics_first else 0

    # Ranges that a compiled search reserves; a state beyond one makes a run inconclusive.

    @property
    def cap_leader_epoch(self) -> int:
        repeated = self.most_stale * self.disturbances
        return 1 + 2 * self.disturbances + self.shrinks + 3 * self.operations + repeated

    @property
    def cap_stray_epoch(self) -> int:
        return self.cap_leader_epoch if self.most_stray_offset > 0 else 0

    @property
    def cap_partition_epoch(self) -> int:
        repeated = self.most_stale * self.disturbances
        joins = self.broker_count * self.shrinks
        return 1 + 4 * self.disturbances + joins + 4 * self.operations + repeated

    @property
    def cap_broker_epoch(self) -> int:
        return 1 + self.crashes + self.kills + self.clean_stops


def check_knobs(owner: str, values: dict[str, Any]) -> None:
    """Raise TypeError for an unknown field or a value of the wrong type."""
    types = {part.name: type(part.default) for part in fields(Config)}
    for name, value in values.items():
        if name not in types:
            raise TypeError(f"{owner}: there is no knob '{name}'. {near(name, types)}".rstrip())
        if type(value) is not types[name]:
            raise TypeError(f"{owner}: '{name}' is a {types[name].__name__}, not {value!r}")
