"""Describes a trace in sentences, in an operator's terms."""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.catalogue.picture.step_sentence import broker_list, sentence
from elrcheck.lang.plain import Label
from elrcheck.model.state import Partition, State, leads


def story(states: Sequence[State], labels: Sequence[Label], ident: str) -> tuple[str, ...]:
    """Return the trace in sentences; the last one says what is lost."""
    first = states[0].partition
    sentences = [f"Replicas {broker_list(first.replicas)} are in sync, and broker {first.leader} leads."]
    for before, after, label in zip(states, states[1:], labels, strict=False):
        words = sentence(before, after, label)
        changes = _partition_changes(before, after)
        if not words and changes:
            words = "The controller writes a new partition record."
        if len(after.committed) > len(before.committed):
            words = f"{words} The record is replicated and acknowledged.".strip()
        if words:
            sentences.append(f"{words} {changes}".strip())
    return (*sentences, ending(states[-1], ident))


def ending(state: State, ident: str) -> str:
    """Return a sentence on what is lost in the last state."""
    if ident.startswith("STALL"):
        all_registered = all(state.registration[b].registered for b in state.partition.replicas)
        who = "Every replica is up" if all_registered else "Every replica that is registered is up"
        return f"{who}, and the partition has no leader; only an operator can give it one."
    leaders = [
        b
        for b, broker in enumerate(state.broker)
        if leads(state, b) and broker.view.leader_epoch == state.partition.leader_epoch
    ]
    if not any(state.broker[b].log for b in state.partition.replicas):
        return "No replica has the acknowledged record any more: it is lost."
    who = f"Broker {leaders[0]} leads" if leaders else "The leader serves"
    return f"{who} without the acknowledged record, and the others truncate to it: the record is lost."


def _partition_changes(before: State, after: State) -> str:
    """Return what changed in the partition record, as `kafka-topics --describe` shows it."""
    old, new = _described(before.partition), _described(after.partition)
    parts = [f"{name}: {value}" for name, value in new.items() if value != old[name]]
    return f"({'; '.join(parts)})" if parts else ""


def _described(p: Partition) -> dict[str, str]:
    leader = "none" if p.leader is None else str(p.leader)
    return {"Leader": leader, "Replicas": broker_list(p.replicas), "Isr": str(sorted(p.isr)), "Elr": str(sorted(p.elr))}
