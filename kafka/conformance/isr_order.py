"""Whether the order of the ISR matters to Kafka's classes: the same question with the list reversed.

The model's ISR is a set. That is an abstraction only as long as Kafka's classes answer the same whatever the
order, but for the order itself and for the record that writes it.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.kafka.conformance.compare import StepDisagreement, Walk
from elrcheck.kafka.conformance.model_side import Unheld, decide_step, partition_of, situation_of
from elrcheck.kafka.conformance.projections import Difference, partition_differences
from elrcheck.kafka.controller_steps import StepAnswer
from elrcheck.model.config import Config


def permuted(walk: Walk) -> Walk:
    """The walk with the ISR of its partition in the opposite order."""
    setup, steps = walk
    assert setup.partition is not None, "a walk has a partition"
    turned = replace(setup.partition, isr=setup.partition.isr[::-1])
    return replace(setup, partition=turned), steps


def order_matters(
    config: Config, walk: Walk, other: Walk, plain: StepAnswer, turned: StepAnswer
) -> StepDisagreement | None:
    """The difference between the answers to one event, apart from a record for the order alone."""
    differences: list[Difference] = []
    if plain.error != turned.error:
        differences.append(Difference("error", plain.error, turned.error))
    assert plain.partition is not None and turned.partition is not None, "a walk keeps its partition"
    moved = (_only_order(walk, plain), _only_order(other, turned))
    epochs = (plain.partition.partition_epoch - moved[0], turned.partition.partition_epoch - moved[1])
    try:
        held = partition_of(replace(turned.partition, partition_epoch=epochs[1]))
        differences.extend(partition_differences(replace(plain.partition, partition_epoch=epochs[0]), held))
        now = situation_of(config, other[0])
        error, after = decide_step(now, other[1][-1])
    except Unheld:
        return None
    if plain.brokers != turned.brokers:
        differences.append(Difference("brokers", str(plain.brokers), str(turned.brokers)))
    if not differences:
        return None
    setup, steps = other
    assert setup.partition is not None, "a walk has a partition"
    return StepDisagreement(setup, steps, setup.partition, setup.brokers, turned, now, error, after, tuple(differences))


def _only_order(walk: Walk, answer: StepAnswer) -> int:
    """1 if the event changed nothing but the order of the ISR."""
    before, after = walk[0].partition, answer.partition
    assert before is not None and after is not None, "a walk has a partition"
    same = replace(after, isr=before.isr, partition_epoch=before.partition_epoch, directories=None)
    reordered = before.isr != after.isr and frozenset(before.isr) == frozenset(after.isr)
    return int(reordered and same == replace(before, directories=None))
