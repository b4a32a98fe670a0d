"""Known and suspected bugs as mutations of the model: what to change, where, and what must break.

Each row is one hazard of `docs/semantics.md`, section F. Its `settings` are the smallest configuration
known to show it, on top of the scope `two-brokers-quiet` (two brokers, one record, no disturbance).
Without the mutation a complete search finds that every property in `expected` holds; with the mutation
each of them breaks. `elrcheck mutate` runs both sides. A mutation changes one knob or removes one named
guard of an action.

`expected` lists the properties of this model that break. The notes may name others: some hazards need
more brokers or disturbances for their last consequence. A row that cannot be shown says why.
"""

from __future__ import annotations

from elrcheck.catalogue.hazard import NO_KNOB, Hazard
from elrcheck.catalogue.hazards_logs import LOGS
from elrcheck.model.choices import (
    AlterReject,
    BalancedEnd,
    CleanCheck,
    EpochFile,
    HwmGate,
    LastKnownLeader,
    LklStorage,
    LostDirectory,
    MinIsrChange,
    MinIsrPropagation,
    ReassignGate,
    RecoveryQuorum,
    Reelection,
    Reregistration,
)

HAZARDS: tuple[Hazard, ...] = (
    # ---- elections and registration
    Hazard(
        "F-1",
        "KAFKA-19522",
        "The last known leader is elected while it is fenced",
        # The leader's own unclean registration elects it.
        expected=("P-19", "P-14"),
        variant="kip_phase1",
        settings={"broker_count": 1, "min_isr": 1, "crashes": 1},
        knobs={"last_known_leader": LastKnownLeader.ANY},
    ),
    Hazard(
        "F-2",
        "KAFKA-18106",
        "Without ELR, a registration before the fencing keeps ISR and leadership",
        expected=("P-14", "P-19", "P-1", "P-2", "P-5", "P-6", "P-4", "P-8"),
        # The second record is written in the same epoch and at the same offset as a lost one (P-5).
        settings={"elr_enabled": False, "crashes": 1, "records": 2},
        knobs={"rereg_without_elr": Reregistration.IGNORE},
    ),
    Hazard(
        "F-3a",
        "KAFKA-15586, KAFKA-18635",
        "Every restart counts as clean",
        expected=("P-14", "P-2", "P-13"),
        settings={"crashes": 1},
        knobs={"clean_check": CleanCheck.ALWAYS_CLEAN},
    ),
    Hazard(
        "F-3b",
        "KAFKA-15586, KAFKA-18635",
        "Every restart counts as unclean: after orderly stops no broker can be elected cleanly",
        expected=("P-9",),
        settings={"clean_stops": 1},
        knobs={"clean_check": CleanCheck.ALWAYS_UNCLEAN},
    ),
    Hazard(
        "F-4",
        "KAFKA-13916, KIP-841",
        "AlterPartition takes a fenced replica back into the ISR",
        expected=("P-19", "P-18", "P-20", "P-1", "P-2"),
        settings={"crashes": 1, "fences": 1},
        knobs={"alter_checks_fenced": False},
    ),
    Hazard(
        "F-5",
        "KIP-903, KAFKA-14617, KAFKA-14139",
        "A follower that lost its disk joins the ISR because of earlier fetches",
        expected=("P-27", "P-2"),
        settings={"crashes": 1},
        knobs={"alter_checks_epochs": False},
    ),
    # ---- logs and fetching
    *LOGS,
    # ---- eligible leader replicas
    Hazard(
        "F-19",
        "KAFKA-16540",
        "A lowered min.insync.replicas leaves the ELR as it is",
        expected=("P-11", "P-3", "P-2", "P-13"),
        settings={"fences": 1, "min_isr_changes": 1},
        knobs={"min_isr_change": MinIsrChange.NEVER},
    ),
    Hazard(
        "F-20",
        "none found",
        "The ELR keeps brokers that are no longer replicas",
        expected=("P-12", "P-11", "P-2", "P-13", "P-1", "P-8"),
        # A second reassignment brings the broker back with an empty log. It cannot be elected in the record
        # that adds it, but when it returns after a fencing.
        settings={"reassignments": 2, "fences": 2},
        knobs={"elr_intersect_replicas": False},
    ),
    Hazard(
        "F-21",
        "none found",
        "An unregistered broker stays in the ELR, and its id registers without a check",
        # No release does both: the code registers an unknown id as after an unclean shutdown.
        expected=("P-14", "P-2", "P-13"),
        settings={"crashes": 1, "unregistrations": 1, "unregister_prunes_elr": False},
        knobs={"unknown_id_is_unclean": False},
    ),
    Hazard(
        "F-23",
        "none found (PR 20716)",
        "Assigning directories wipes the ELR",
        expected=("P-9", "P-16", "P-1", "P-2", "P-6", "P-8"),
        settings={"crashes": 1, "fences": 1, "directory_changes": 1},
        knobs={"dirs_wipe_elr": True},
    ),
    Hazard(
        "F-24",
        "none found",
        "The leader learns a smaller ISR before the raised min.insync.replicas",
        expected=("P-3", "P-2", "P-13"),
        settings={"min_isr": 1, "fences": 1, "min_isr_changes": 1},
        knobs={"min_isr_propagation": MinIsrPropagation.TOPICS_FIRST},
    ),
    Hazard(
        "F-25",
        "none found",
        "Writing min.insync.replicas clears the ELR, even if the value stays",
        # If there is no leader, it leaves no broker to elect, for good (V-7).
        expected=("P-9", "P-16"),
        settings={"fences": 1, "min_isr_changes": 1},
        knobs={"min_isr_change": MinIsrChange.ALWAYS},
    ),
    Hazard(
        "F-26",
        "none found",
        "After an upgrade the last known leader is stored as none",
        # Starts without ELR; with the code's strategy and storage the last ISR member is forgotten.
        expected=("V-8",),
        variant="kip_phase1",
        settings={"elr_enabled": False, "feature_changes": 1, "kills": 1, "fences": 1},
        knobs={"lkl_storage": LklStorage.OVERLOAD},
    ),
    Hazard(
        "F-27",
        "none found",
        "An election from the ELR leaves an ELR beside an ISR of min ISR members",
        expected=("P-11", "P-3", "P-2", "P-13"),
        settings={"clean_stops": 2, "min_isr_changes": 1},
        knobs={"recheck_elr_after_election": False},
    ),
    Hazard(
        "F-28",
        "none found",
        "ELR is switched off and the stored ELR still consulted",
        expected=("P-1", "P-6", "P-8"),
        # Under the KIP's rule the lowered min ISR would clear the stored ELR; 4.0 and 4.1 do not, with
        # the feature off.
        settings={"clean_stops": 2, "feature_changes": 1, "min_isr_changes": 1, "min_isr_change": MinIsrChange.ALWAYS},
        knobs={"downgrade_ignores_elr": False},
    ),
    Hazard(
        "F-29",
        "none found",
        "A preferred election elects the last known leader",
        left_out="no property says who may permit an unclean election; P-28 asks for the mark only",
    ),
    # ---- reassignment and min ISR
    Hazard(
        "F-30a",
        "KAFKA-15665",
        "A reassignment completes once the added replicas have joined, with fewer than min ISR members",
        # E-19: a replica that is behind stays in the list, and one of the two that have the record leaves it.
        # If the last one then loses its log, the record is gone: with a crash P-30 breaks at depth 7.
        expected=("P-29",),
        settings={"broker_count": 3, "reassignments": 1, "fences": 1},
        knobs={"reassign_gate": ReassignGate.ADDING},
    ),
    Hazard(
        "F-30b",
        "KAFKA-19975",
        "A reassignment to as many replicas completes with fewer than min ISR members",
        expected=("P-29",),
        settings={"broker_count": 3, "spare_brokers": 1, "reassignments": 1, "crashes": 1},
        knobs={"reassign_gate": ReassignGate.TRUNK_2025},
    ),
    Hazard(
        "F-31",
        "none found",
        "The effective min ISR counts replicas that are being added",
        left_out=f"{NO_KNOB}; it would delay acknowledgements (V-9)",
    ),
    Hazard(
        "F-32",
        "KAFKA-19996",
        "A replica joins and drops out again while the watermark stands still",
        left_out=f"{NO_KNOB}; the watermark would stand still (V-10)",
    ),
    # ---- the leader's view of its ISR
    Hazard(
        "F-33",
        "KAFKA-12686, KAFKA-12751, KAFKA-13091",
        "A refused AlterPartition is forgotten although an earlier copy was applied",
        expected=("P-3", "P-2"),
        settings={"min_isr": 1, "fences": 1, "response_loss": True},
        knobs={"alter_reject": AlterReject.ROLLBACK},
    ),
    Hazard(
        "F-34",
        "KAFKA-15021, KAFKA-13790, KAFKA-15109",
        "Metadata of an equal leader epoch is ignored",
        # Waiting for former members is safe, so only liveness suffers: a view stays behind and the broker
        # stays out of the ISR; after a lost response the proposal and the watermark wait for that metadata.
        expected=("V-2", "V-3", "V-9", "V-10"),
        settings={"fences": 1, "response_loss": True},
        knobs={"applies_equal_epoch": False},
    ),
    Hazard(
        "F-36",
        "KAFKA-16952, KAFKA-19047",
        "The same incarnation gets another broker epoch when it registers again",
        left_out=f"{NO_KNOB}; requests would be refused for ever (V-1, V-3)",
    ),
    Hazard(
        "F-37",
        "KAFKA-12733, KAFKA-16624",
        "The leader epoch moves although the ISR did not change",
        left_out=f"{NO_KNOB}; P-21 does not ask for a reason",
    ),
    Hazard(
        "F-38",
        "KAFKA-13837, KAFKA-14078",
        "A fetch of a broker without a replica counts",
        expected=("P-1", "P-2", "P-27", "P-6", "P-8"),
        # It deletes what it fetched when it applies its next metadata; then it becomes a replica.
        settings={"min_isr": 1, "spare_brokers": 1, "reassignments": 1, "directory_changes": 1},
        guard=("Fetch", "f is a replica"),
    ),
    Hazard(
        "F-39",
        "KAFKA-15583",
        "The high watermark moves below min ISR",
        expected=("P-2", "P-13", "P-1", "P-6", "P-8"),
        settings={"fences": 2},
        knobs={"strict_hwm": False},
    ),
    Hazard(
        "F-40",
        "KIP-966 (rejected)",
        "The strict rule counts proposed ISR members",
        expected=("P-2", "P-13", "P-1", "P-6", "P-8"),
        settings={"broker_count": 3, "fences": 1, "shrinks": 1},
        knobs={"hwm_gate": HwmGate.MAXIMAL},
    ),
    Hazard(
        "F-41",
        "KIP-966 (rejected)",
        "The high watermark does not wait for proposed ISR members",
        expected=("P-2", "P-27"),
        settings={"min_isr": 1, "fences": 1},
        knobs={"maximal_isr": False},
    ),
    # ---- unclean recovery
    Hazard(
        "F-43",
        "KIP-966",
        "A recovery counts the answers of brokers that were fenced or restarted since",
        # The loss in E-24 (P-1) needs a third unclean shutdown.
        expected=("P-19", "P-31"),
        settings={"broker_count": 1, "min_isr": 1, "kills": 2},
        knobs={"log_info_checks": False},
    ),
    Hazard(
        "F-44",
        "KIP-966 (rejected)",
        "A recovery waits for a number of answers, whoever gives them",
        expected=("P-31", "P-1", "P-2", "P-6", "P-8"),
        settings={"min_isr": 1, "fences": 1, "kills": 1},
        knobs={"recovery_quorum": RecoveryQuorum.MIN_ISR},
    ),
    # ---- smaller parts
    Hazard(
        "F-45",
        "none found (published TLA+)",
        "A new ISR member stays in the ELR",
        expected=("P-10",),
        settings={"broker_count": 3, "min_isr": 3, "fences": 2, "records": 0},
        knobs={"elr_minus_isr": False},
    ),
    Hazard(
        "F-46a",
        "KAFKA-8400, KAFKA-13141",
        "A fetch that fails tells the leader how far the follower is",
        expected=("P-2", "P-25"),
        settings={"fences": 1, "records": 2},
        knobs={"ignores_failed_fetches": False},
    ),
    Hazard(
        "F-46b",
        "KAFKA-10301",
        "The high watermark does not wait for followers the leader has not heard of",
        expected=("P-2",),
        knobs={"waits_for_unknown": False},
    ),
    Hazard(
        "F-46c",
        "KAFKA-14010",
        "An AlterPartition that got no usable answer is not sent again",
        # The proposal stays pending for ever.
        expected=("V-3",),
        settings={"fences": 1, "response_loss": True},
        knobs={"alter_retries": False},
    ),
    Hazard(
        "F-48", "KAFKA-18940, KAFKA-19212", "Unclean elections are not counted", left_out="a metric, not the protocol"
    ),
    # ---- a leader that missed an epoch
    Hazard(
        "F-51",
        "none found",
        "A leader that missed an epoch trusts what its followers had in an older one",
        # With a third fencing the truncated follower leads (P-1 at 18, P-8 at 21).
        expected=("P-2", "P-26"),
        settings={"broker_count": 3, "fences": 2, "elections": 1},
        knobs={"reelection": Reelection.KEPT},
    ),
    # ---- log directories
    Hazard(
        "F-52",
        "none found",
        "A broker that lost the log directory of its replica counts as cleanly stopped",
        expected=("P-14", "P-2", "P-13", "P-1", "P-6", "P-8", "P-30"),
        settings={"clean_stops": 1, "fences": 1, "directory_losses": 1},
        knobs={"lost_directory": LostDirectory.IGNORED},
    ),
    # ---- min ISR raised while the leader shrinks its ISR
    Hazard(
        "F-53",
        "KIP-966",
        "The controller alters the ISR of a leader that has not read the raised min.insync.replicas",
        # This is the KIP's own rule and every release's: the knob is the way out.
        expected=("P-3", "P-2", "P-13", "P-1", "P-6", "P-8"),
        settings={
            "min_isr": 1,
            "fences": 1,
            "shrinks": 1,
            "min_isr_changes": 1,
            "min_isr_change_bumps_partition_epoch": True,
        },
        knobs={"min_isr_change_bumps_partition_epoch": False},
    ),
    # ---- after an unclean recovery
    Hazard(
        "F-55",
        "none found",
        "An unclean election empties LastKnownELR, as if its winner were in sync",
        # The winner dies after its answer; the next recovery waits for it alone, and elects its empty log.
        expected=("P-16", "P-1", "P-2", "P-6", "P-8"),
        settings={"crashes": 1, "kills": 2, "balanced_end": BalancedEnd.AT_ONCE},
        knobs={"unclean_election_clears_last_known": True},
    ),
    # ---- the feature switched off and on
    Hazard(
        "F-56",
        "none found",
        "An ELR stored before ELR was switched off counts again once it is switched on",
        # Meanwhile its member stopped uncleanly; P-1 breaks on both sides, because without ELR a last
        # replica that lost its log leads again.
        expected=("P-13",),
        settings={"crashes": 1, "fences": 1, "feature_changes": 2},
        knobs={"feature_on_clears_elr": False},
    ),
    # ---- the file of the leader epoch cache
    Hazard(
        "F-69",
        "KAFKA-15046, KAFKA-16541",
        "The file of the leader epoch cache follows a truncation too late",
        # With a kill besides, the follower that truncated too much leads (P-1 at 24, P-8 at 28).
        expected=("P-2", "P-13", "P-26"),
        settings={"clean_stops": 1, "fences": 2, "late_flushes": 1, "records": 2, "log_slots": 2},
        knobs={"epoch_file": EpochFile.LATER},
    ),
)
