"""A failover that loses uncommitted records: what it reaches is reached without it, and no answer is taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.partitions.controller_state import ControllerState, Stable
from elrcheck.model.partitions.uncommitted import LearnEpoch, RegisterProcess, written_image

MODEL = Path("elrcheck.catalogue.kafka_controller")
FAILOVER = ("CommitWritten", "LoseUncommitted")
SMALLER = ("snapshots=0", "min_isr_changes=0", "crashes=0")


def plain(scope: str, *overrides: str, variant: str = "code_4_3") -> PlainModel:
    selected = resolve(Selection(variant=variant, scope=scope, overrides=overrides, model=MODEL))
    return PlainModel(selected.declared.whole(), selected.config)


def reached(model: PlainModel) -> set[ControllerState]:
    """All states within the bound."""
    seen = set(model.starts)
    new = list(seen)
    while new:
        for _, after in model.successors(new.pop()):
            if model.within(after) and after not in seen:
                seen.add(after)
                new.append(after)
    return seen


def without_budgets(image: Stable | ControllerState) -> tuple[object, ...]:
    return image.settings, image.topics, image.registration, image.indexes


# ---------------------------------------------------------------------------- what it reaches


@pytest.mark.parametrize("variant", ["kip_full", "code_4_3"])
@pytest.mark.parametrize("changes", ["min_isr_changes=0", pytest.param("min_isr_changes=1", marks=pytest.mark.slow)])
def test_the_images_are_those_of_a_controller_that_commits_at_once(changes: str, variant: str) -> None:
    """Without restarts of brokers: the same settings, topics, registrations, indexes and budgets."""
    small = ("snapshots=0", "crashes=0", changes)
    losing = reached(plain("uncommitted", *small, variant=variant))
    at_once = reached(plain("default", *small, variant=variant))
    assert len(losing) > 3 * len(at_once)
    images = {replace(written_image(s), registered=frozenset()) for s in at_once}
    assert {replace(written_image(s), registered=frozenset()) for s in losing} == images
    assert {replace(s.stable, registered=frozenset()) for s in losing} == images


@pytest.mark.slow
def test_with_restarts_and_shutdowns_they_are_some_of_these() -> None:
    """A process may register as one that died, although it stopped cleanly: the other model may do either."""
    small = ("partitions=1", "fences=0")
    losing = reached(plain("answers", *small))
    at_once = reached(plain("shutdowns", *small, "crashes=2", "clean_stops=2", "unregistrations=0", "elections=0"))
    images = {without_budgets(s) for s in at_once}
    assert {without_budgets(s) for s in losing} | {without_budgets(s.stable) for s in losing} <= images


# ---------------------------------------------------------------------------- records of several events


@dataclass(frozen=True)
class Suffix:
    """A state, and its image after each event since the committed one; the last one is the image of the state."""

    state: ControllerState
    images: tuple[Stable, ...] = ()


def with_image(state: ControllerState, image: Stable, committed: Stable) -> ControllerState:
    return replace(state, **vars(image), stable=committed)


def after_event(suffix: Suffix, label: Label, after: ControllerState) -> Suffix:
    """A restart is no event of the controller, and all images have another process then."""
    images = suffix.images
    if label.action == "Restart":
        spent = {"crashes": after.spent.crashes, "clean_stops": after.spent.clean_stops}
        images = tuple(
            replace(i, registered=i.registered - {label.args[0]}, spent=replace(i.spent, **spent)) for i in images
        )
    elif written_image(after) != written_image(suffix.state):
        images = (*images, written_image(after))
    return Suffix(after, images)


def steps(model: PlainModel, suffix: Suffix, longest: int) -> Iterator[Suffix]:
    """One event, one commit of the oldest event, or a failover that keeps any of the uncommitted events."""
    s, images = suffix.state, suffix.images
    for label, after in model.successors(s):
        if label.action not in FAILOVER and model.within(after):
            following = after_event(suffix, label, after)
            if len(following.images) <= longest:
                yield following
    if images:
        yield Suffix(replace(s, stable=images[0]), images[1:])
    for surviving in range(len(images)):
        image = images[surviving - 1] if surviving else s.stable
        restarts = {"crashes": s.spent.crashes, "clean_stops": s.spent.clean_stops}
        yield Suffix(
            with_image(s, replace(image, spent=replace(image.spent, **restarts)), s.stable), images[:surviving]
        )


@pytest.mark.parametrize(
    ("scope", "small"), [("uncommitted", SMALLER), ("answers", ("partitions=1", "fences=0", "crashes=0"))]
)
def test_a_failover_that_keeps_some_events_of_several_reaches_nothing_else(scope: str, small: tuple[str, ...]) -> None:
    model = plain(scope, *small)
    start = Suffix(model.initial())
    seen, new = {start}, [start]
    while new:
        for following in steps(model, new.pop(), 2):
            if following not in seen:
                seen.add(following)
                new.append(following)
    simple = reached(model)
    assert {suffix.state for suffix in seen} <= simple
    assert {(s.stable, s.processes) for s in simple} == {(x.state.stable, x.state.processes) for x in seen}


# ---------------------------------------------------------------------------- answers


def test_a_controller_that_answers_before_the_commit_breaks_all_three() -> None:
    settings: dict[str, Any] = {"answers_uncommitted": True, "partitions": 1}
    report = elrcheck.check(model=MODEL, scope="answers", variant="kip_full", settings=settings)
    assert report.search.complete
    assert [p.id for p in report.properties if p.verdict == "violated"] == ["M-6", "M-7", "M-8"]


def test_a_lost_registration_frees_its_epoch_that_no_process_learnt() -> None:
    model = plain("answers")
    c, s = model.config, model.initial()
    fenced = model.step(model.step(s, Label("Restart", (0, False))), Label("Fence", (0,)))
    lost = model.step(RegisterProcess(c, fenced, 0), Label("LoseUncommitted", (False,)))
    assert lost.registration[0].epoch == 1 and lost.processes[0].epoch == 0
    again = model.step(model.step(lost, Label("Restart", (0, True))), Label("Fence", (0,)))
    registered = model.step(RegisterProcess(c, again, 0), Label("CommitWritten", ()))
    assert LearnEpoch(c, registered, 0).processes[0].epoch == 2
