"""The constants of the model: sizes, protocol knobs and perturbation budgets.

A knob's default is the KIP's intention (`kip_full`); `elrcheck.model.variants` names the sets of
knobs of released code. The text below each knob, which `elrcheck list knobs` shows, names a row of the comparison
table (C-n) or a hazard (F-n) of `docs/semantics.md`.

Budgets bound perturbations only: crashes, orderly stops, spurious fencing, ISR shrinks, writes. Healing (restart,
registration, unfencing, fetching, catching up) is never bounded.
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
    """Brokers. Each holds a replica of the partition at the start, except the spare ones."""
    spare_brokers: int = 0
    """Brokers, the last ones, that hold no replica at the start; a reassignment may move to them."""
    min_isr: int = 2
    """min.insync.replicas of the topic at the start; in effect at most the number of replicas (C-17)."""
    partition_zero_replicas: int = 0
    """Replicas of the topic's partition 0, if the modelled partition is another one; 0 if it is that one. The
    code takes the effective min ISR of a topic from its partition 0 (getTopicEffectiveMinIsr, C-17, F-31)."""
    topic_has_min_isr: bool = True
    """The topic has a min.insync.replicas of its own at the start; else the cluster's applies."""
    log_slots: int = 2
    """Slots of a replica's log: the only data bound the proof keeps."""

    elr_enabled: bool = True
    """Eligible Leader Replicas are tracked at the start (C-29)."""
    strict_hwm: bool = True
    """The high watermark moves only while the ISR has min ISR members (C-18, F-39)."""
    unclean_leader_election_enable: bool = False
    """unclean.leader.election.enable of the topic; with a recovery manager only the strategy below counts."""
    unclean_recovery_strategy: RecoveryStrategy = RecoveryStrategy.BALANCED
    elect_leaders_v3: bool = True
    """ElectLeaders can designate a leader and ask for the longest log (version 3, C-31)."""
    bump_leader_epoch_on_isr_shrink: bool = False
    """Metadata versions before 3.6 bump the leader epoch when the ISR shrinks (KAFKA-15021)."""
    recovery_state_supported: bool = True
    """Metadata versions from 3.2 mark a leader elected uncleanly as RECOVERING (KIP-704)."""

    clean_check: CleanCheck = CleanCheck.EPOCH
    last_known_leader: LastKnownLeader = LastKnownLeader.NEVER
    lkl_storage: LklStorage = LklStorage.SEPARATE
    lkl_rule: LklRule = LklRule.EMPTIED
    lkl_stores_none: bool = False
    """The code stores -1 as the last known leader of a partition that had no leader already; 4.0 then tries to
    elect -1, so that no election succeeds any more (maybeUpdateLastKnownLeader, canElectLastKnownLeader)."""
    strangers_fail: bool = True
    """An election that would test an active broker which is not a replica yet fails: the old registration has no
    directory for it (LeaderAcceptor.test, PartitionRegistration.directory)."""
    rereg_without_elr: Reregistration = Reregistration.FENCE
    elr_intersect_replicas: bool = True
    """ELR is restricted to the replica list (C-9, F-20)."""
    elr_minus_isr: bool = True
    """Every member of the new ISR leaves the ELR, not only members of the old ISR (C-10, F-45)."""
    recheck_elr_after_election: bool = True
    """The ELR rule is applied again after an election changed the ISR (C-49, F-27)."""
    downgrade_ignores_elr: bool = True
    """With ELR switched off a stored ELR is ignored at once, not only at the next change (C-30, F-28)."""
    feature_on_clears_elr: bool = True
    """Switching ELR on drops an ELR stored before it was switched off (KIP-966 "Compatibility", F-56)."""
    reassign_gate: ReassignGate = ReassignGate.KIP
    cancel_gate: bool = True
    """Cancelling a reassignment must leave min ISR members in the ISR (C-22, E-20)."""
    cancel_forces_first_replica: bool = False
    """Cancelling while the ISR is empty forces the first replica in, if unclean election is allowed (C-50)."""
    min_isr_change: MinIsrChange = MinIsrChange.KIP
    min_isr_change_bumps_partition_epoch: bool = False
    """Writing min.insync.replicas writes a partition record too, so that a leader that has not read the new
    value cannot alter its ISR. Neither the KIP nor any release does this."""
    unregister_prunes_elr: bool = True
    """Unregistering a broker removes it from the ELR, not only from the ISR (C-28, F-21)."""
    unknown_id_is_unclean: bool = True
    """Registering an id that is not registered counts as an unclean shutdown (ClusterControlManager, F-21)."""
    elr_index_goes_stale: bool = False
    """Clearing the ELR for a changed min.insync.replicas leaves its members in the controller's index of ELR
    members, so a later unclean registration or unregistration writes the same record more than once
    (removeTopicElrs, BrokersToElrs). Only with metadata that brokers apply at once (LATEST)."""
    dirs_wipe_elr: bool = False
    """Assigning replicas to directories is built as if ELR were off, and wipes it (C-43, F-23)."""
    choice: CandidateChoice = CandidateChoice.ORDER
    """The candidate of an election that wins. ANY: whom FavourReplica named before, which may be any of them."""
    last_known_in_every_election: bool = False
    """Preferred and unclean elections try the last known leader too, before anybody else (C-6, C-8, F-29)."""
    keep_min_isr: bool = False
    """Only a broker that stopped uncleanly leaves an ISR of min ISR members (rejected, E-8)."""
    retarget_overwrites: bool = True
    """A re-targeted reassignment replaces an old list of adding or removing replicas by an empty one (B.7)."""
    recovery_quorum: RecoveryQuorum = RecoveryQuorum.KIP
    balanced_end: BalancedEnd = BalancedEnd.ACTIVE
    unclean_election_clears_last_known: bool = False
    """An unclean election empties LastKnownELR. The KIP empties it only when the ISR reaches min ISR."""
    log_info_checks: bool = True
    """Log info counts only if it is of the registered incarnation and of the present leader epoch (F-43)."""
    election_ends_recovery: bool = True
    """A clean election calls a running recovery off (E-26)."""
    empty_isr_without_elr: bool = False
    """Without ELR the ISR may become empty too (rejected, E-9)."""
    shadow_isr: bool = False
    """Members that leave an ISR below min ISR stay in a shadow of it; a last member that stopped uncleanly
    copies what it lost from them before it serves (rejected, E-10)."""
    sync_may_be_skipped: bool = False
    """Such a leader serves without having copied anything, if no shadow member can be reached (E-10)."""
    alter_checks_fenced: bool = True
    """AlterPartition refuses fenced and shutting-down members (KIP-841, F-4)."""
    alter_checks_epochs: bool = True
    """AlterPartition compares the broker epochs of the members (KIP-903, F-5)."""
    register_before_fence: bool = True
    """A broker whose session expired may register before the fencing is executed (B.3 rule 1, F-2)."""
    lost_directory: LostDirectory = LostDirectory.REGISTRATION
    heartbeat_in_one_snapshot: bool = False
    """A heartbeat that unfences a broker and names a failed directory is answered with two records that are both
    built from the partition as it was (processBrokerHeartbeat, F-66). KIP-858 wants such a broker not to lead."""
    report_elects: bool = True
    """A report that a replica is in an online directory may elect it; the code asks for the recorded one."""
    assigns_before_registration: bool = False
    """A starting broker may report a directory in the name of its previous incarnation (AssignmentsManager)."""

    hwm_gate: HwmGate = HwmGate.COMMITTED
    maximal_isr: bool = True
    """The high watermark waits for the maximal ISR, not only for the committed one (F-41)."""
    join_requires_epoch_start: bool = True
    """A joiner must have reached the start of the leader's epoch, not only its watermark (F-11)."""
    alter_reject: AlterReject = AlterReject.KEEP
    answer_needs_proposal: bool = True
    """An answer counts only while its proposal is pending (Partition.submitAlterPartition): a late one is
    ignored before its epochs are compared, which would refuse it too (handleAlterPartitionUpdate)."""
    known_record_ends_proposal: bool = False
    """The record of a change that an answer announced ends a proposal sent since (Partition.makeLeader)."""
    alter_retries: bool = True
    """An AlterPartition that got no usable answer is sent again (KAFKA-14010, F-46)."""
    proposal_names_proof: bool = True
    """A proposal names the incarnation whose fetch proved the joiner complete (KAFKA-15221, F-13)."""
    leader_caches_epoch: bool = True
    """A new leader caches its epoch and log end before its first record (KAFKA-7415, F-10)."""
    ignores_failed_fetches: bool = True
    """A fetch that is answered with a divergence tells the leader nothing (KAFKA-13141, KAFKA-8400, F-46)."""
    waits_for_unknown: bool = True
    """The high watermark waits for followers the leader has not heard of yet (KAFKA-10301, F-46)."""
    reelection: Reelection = Reelection.RESET
    """What it keeps of its followers' log ends in a later epoch, if it did not step down in between (F-51)."""
    acks_admission: AcksAdmission = AcksAdmission.COMMITTED

    truncation: Truncation = Truncation.EVERY_FETCH
    fetch_fencing: FetchFencing = FetchFencing.BOTH
    epoch_file: EpochFile = EpochFile.WITH_LOG
    response_checks_epoch: bool = True
    """A fetch response of another leader epoch is dropped (KAFKA-18991, F-14)."""
    response_checks_leader: bool = True
    """A fetch response of a leader that is not followed any more is dropped (KAFKA-13207, F-18)."""
    response_checks_records: bool = True
    """Records of a later epoch than the fetch was sent in are not appended (KAFKA-18723, F-18)."""
    applies_equal_epoch: bool = True
    """Metadata of the leader epoch a broker already has is applied too (KAFKA-13790, F-34)."""

    metadata: Propagation = Propagation.LATEST
    registration_catch_up: bool = True
    """A restarted broker reads metadata up to its own registration before it acts on any (F-15)."""
    before_registration: BeforeRegistration = BeforeRegistration.WAITS
    min_isr_propagation: MinIsrPropagation = MinIsrPropagation.ATOMIC
    """In a publish every release applies topics before configurations (BrokerMetadataPublisher, C-16, F-24)."""
    alter_answer_carries_min_isr: bool = False
    """A granted AlterPartition tells the leader min.insync.replicas too; no AlterPartitionResponse does (v0 to v3)."""
    directories_assigned: bool = True
    """The controller knows the log directory of every replica at the start (KIP-858)."""
    response_loss: bool = True
    """An AlterPartition response may be lost; the leader then sends the same request again."""
    fetch_loss: bool = True
    """A fetch response may be lost after the leader has taken note of the fetch."""
    skips_no_news: bool = False
    """Followers count as having read a record that says nothing new to them (ADR 0008)."""
    forgets: bool = False
    """Broker epochs that will never be compared again are forgotten (ADR 0009)."""
    tracks_acks: bool = False
    """Acknowledged acks=all records are remembered, for P-33 and P-34; this tells apart more states."""

    records: int = 2
    """Records that producers write, with either setting of acks."""
    acks_one: int = 1
    """How many of the records may be written with acks=1."""
    acks_zero: int = 0
    """How many of the records may be written with acks=0."""
    crashes: int = 1
    """Broker processes that die; each may lose any suffix of its log."""
    kills: int = 0
    """Broker processes that die and lose nothing, because the operating system lives on."""
    clean_stops: int = 0
    """Orderly stops of a broker, which leave a clean-shutdown file."""
    fences: int = 1
    """Fencing of a broker that is in fact alive; fencing a dead one is free."""
    shrinks: int = 1
    """ISR shrinks proposed by a leader."""
    shutdowns: int = 0
    """Controlled shutdowns that a broker asks for."""
    shutdown_timeouts: int = 0
    """Controlled shutdowns that end, just as cleanly, without the grant: the broker's timeout is over."""
    unregistrations: int = 0
    """Brokers that an operator unregisters."""
    elections: int = 0
    """Elections of the preferred leader, by ElectLeaders or by balancing."""
    unclean_elections: int = 0
    """Elections by ElectLeaders that may lose data: unclean, designated, longest log."""
    reassignments: int = 0
    """Reassignments started, re-targeted or cancelled."""
    min_isr_changes: int = 0
    """Changes of min.insync.replicas."""
    feature_changes: int = 0
    """Upgrades and downgrades of the ELR feature."""
    directory_changes: int = 0
    """Assignments of replicas to log directories."""
    directory_failures: int = 0
    """Log directories that fail while their broker runs."""
    directory_losses: int = 0
    """Log directories that are lost while their broker is down."""
    failovers: int = 0
    """Failovers of the controller while it recovers the partition; others change nothing here."""
    late_answers: int = 0
    """AlterPartition exchanges that metadata overtakes, so that their answer arrives late."""
    late_fetches: int = 0
    """Fetches whose answer takes its time, so that other events come between."""
    early_starts: int = 0
    """Restarted processes that act on metadata before they are registered, if `before_registration` lets them."""
    early_writes: int = 0
    """Records of a coordinator on a leader that is not registered; the partition is then of an internal topic."""
    late_flushes: int = 0
    """Processes that end while the file of the leader epoch cache still has an entry that a truncation removed."""
    old_checkpoints: int = 0
    """Processes that begin with an older high watermark than the one before had: the checkpoint is periodic."""

    @property
    def brokers(self) -> RSet:
        """All broker ids, ascending."""
        return Universe(range(self.broker_count))

    @property
    def disturbances(self) -> int:
        """Budgeted events that make the controller drop a broker."""
        down = self.crashes + self.kills + self.clean_stops + self.shutdowns + self.unregistrations
        return down + self.fences + self.directory_failures + self.directory_losses

    @property
    def operations(self) -> int:
        """Budgeted events of an operator that change the partition."""
        writes = self.min_isr_changes + self.feature_changes + self.directory_changes
        return self.elections + self.unclean_elections + self.reassignments + writes

    @property
    def most_stale(self) -> int:
        """The greatest number of entries that a broker may have too many in the index of ELR members."""
        return self.min_isr_changes if self.elr_index_goes_stale else 0

    @property
    def metadata_slots(self) -> int:
        """Records of the metadata log that are kept."""
        return self.cap_partition_epoch if self.metadata == Propagation.LOG else 0

    @property
    def promise_slots(self) -> int:
        """Promises about committed records that differ: one for each value of min ISR, if it can change."""
        changes = self.min_isr_changes + self.reassignments + self.feature_changes
        return self.broker_count if changes > 0 else 0

    @property
    def acked_slots(self) -> int:
        """Acknowledged records that are remembered."""
        return self.records if self.tracks_acks else 0

    @property
    def most_overtaken(self) -> int:
        """1 where metadata may overtake an exchange that the leader has with the controller."""
        return min(self.late_answers, 1)

    @property
    def most_ahead(self) -> int:
        """1 where it matters that a leader has not read the record of a change that an answer announced."""
        return self.most_overtaken if self.known_record_ends_proposal else 0

    @property
    def most_early(self) -> int:
        """1 where a process may act before it is registered."""
        return 0 if self.before_registration == BeforeRegistration.WAITS else min(self.early_starts, 1)

    @property
    def most_stray_offset(self) -> int:
        """The greatest offset of an entry that the leader epoch cache or its file has too many."""
        return self.log_slots if self.epoch_file == EpochFile.LATER and self.late_flushes > 0 else 0

    @property
    def most_checkpoint(self) -> int:
        """The greatest high watermark in a file of checkpoints, where it matters that it is not the last one."""
        return self.log_slots if self.old_checkpoints > 0 else 0

    @property
    def late_slots(self) -> int:
        """Late fetches under way at one time."""
        return min(self.late_fetches, 1)

    @property
    def most_settled(self) -> int:
        """1 where a follower remembers that it need not compare logs any more."""
        return 0 if self.truncation in (Truncation.EVERY_FETCH, Truncation.HIGH_WATERMARK) else 1

    @property
    def most_carried(self) -> int:
        """1 where a leader may keep the log end that a follower had in an earlier epoch."""
        return 0 if self.reelection == Reelection.RESET else 1

    @property
    def most_min_isr(self) -> int:
        """The greatest min.insync.replicas that a change may set; more makes no difference."""
        return max(self.broker_count, self.min_isr)

    @property
    def most_known_min_isr(self) -> int:
        """The greatest min.insync.replicas a broker may have to remember: none if it never changes."""
        return self.most_min_isr if self.min_isr_changes > 0 else 0

    @property
    def most_due_min_isr(self) -> int:
        """The greatest one that it may have read and not applied yet."""
        topics_first = self.min_isr_propagation == MinIsrPropagation.TOPICS_FIRST
        return self.most_known_min_isr if topics_first else 0

    # Ranges that a compiled search reserves; exceeding one of these makes a run inconclusive.

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
