"""A failed log directory that comes back, a live broker that is unregistered, and a changing unclean setting."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.broker.lifecycle import CleanStop, Kill, Start
from elrcheck.model.broker.log_directories import FailDirectory, LoseDirectory, ReturnDirectory
from elrcheck.model.broker.metadata import ApplyMetadata
from elrcheck.model.broker.replica import Fetch, Produce
from elrcheck.model.config import Config
from elrcheck.model.control_plane.broker_events import Fence, Register, Unfence, Unregister
from elrcheck.model.control_plane.directory_events import ReportFailedDirectory
from elrcheck.model.control_plane.election_events import ElectUncleanPeriodically
from elrcheck.model.control_plane.operator_events import ChangeUncleanElection
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, LogDir, State, Status
from elrcheck.model.variants import variant_named

DISKS = Config(broker_count=2, kills=1, clean_stops=1, directory_failures=1, directory_losses=1, directory_returns=1)
KAFKA_4_3 = variant_named("code_4_3").knobs


def after(config: Config, *steps: tuple[Callable[..., State], *tuple[object, ...]]) -> State:
    """Return the state after these steps; NotEnabled if one is impossible."""
    state = Init(config)
    for action, *choices in steps:
        state = action(config, state, *choices)
    return state


WRITTEN = ((Produce, 0, Acks.ALL), (Fetch, 1, 0, False), (Fetch, 1, 0, False))
FAILED = (*WRITTEN, (FailDirectory, 1), (ReportFailedDirectory, 1), (CleanStop, 1))
RESTARTED = ((Start, 1), (Register, 1), (ApplyMetadata, 1), (Unfence, 1))


@pytest.mark.parametrize("keep", [0, 1])
def test_a_failed_directory_comes_back_with_a_prefix_of_its_log(keep: int) -> None:
    failed = after(DISKS, *FAILED)
    assert failed.broker[1].log == () and len(failed.broker[1].detached_log) == 1
    back = after(DISKS, *FAILED, (ReturnDirectory, 1, keep))
    broker = back.broker[1]
    assert (len(broker.log), broker.log_dir, broker.high_watermark) == (keep, LogDir.PRESENT, keep)
    assert broker.detached_log == () and back.spent.directory_returns == 1


def test_a_clean_stop_without_the_directory_proves_nothing_once_it_is_back() -> None:
    """4.3 would take another directory's file for a proof only if the failed one were no longer configured (F-52)."""
    steps = (*FAILED, (ReturnDirectory, 1, 1), *RESTARTED)
    back = after(Config(**{**KAFKA_4_3, "broker_count": 2, "clean_stops": 1, **_budgets(DISKS)}), *steps)
    assert 1 not in back.partition.isr | back.partition.elr and len(back.broker[1].log) == 1


def _budgets(config: Config) -> dict[str, int]:
    names = ("directory_failures", "directory_losses", "directory_returns")
    return {name: getattr(config, name) for name in names}


def test_a_directory_that_was_replaced_does_not_come_back() -> None:
    steps = (*WRITTEN, (Kill, 1), (LoseDirectory, 1, LogDir.FAILED), (LoseDirectory, 1, LogDir.REPLACED))
    assert after(DISKS, *steps[:-1]).broker[1].detached_log != ()
    assert after(DISKS, *steps).broker[1].detached_log == ()
    with pytest.raises(NotEnabled, match="the directory has failed"):
        after(DISKS, *steps, (ReturnDirectory, 1, 0))


def test_without_the_budget_the_records_are_gone() -> None:
    config = Config(broker_count=2, kills=1, clean_stops=1, directory_failures=1)
    failed = after(config, *FAILED)
    assert failed.broker[1].detached_log == ()
    with pytest.raises(NotEnabled, match="come back"):
        after(config, *FAILED, (ReturnDirectory, 1, 0))


LIVE = Config(broker_count=2, unregistrations=1, live_unregistrations=1, kills=1)


def test_a_live_broker_that_is_unregistered_stays_fenced_until_it_restarts() -> None:
    gone = after(LIVE, (Unregister, 1), (ApplyMetadata, 1))
    assert gone.broker[1].status == Status.RUNNING and 1 not in gone.partition.isr
    with pytest.raises(NotEnabled, match="b is registered"):
        after(LIVE, (Unregister, 1), (ApplyMetadata, 1), (Unfence, 1))
    back = after(LIVE, (Unregister, 1), (Kill, 1), *RESTARTED)
    assert back.registration[1].registered and not back.registration[1].fenced
    assert (gone.spent.unregistrations, gone.spent.live_unregistrations) == (1, 1)


def test_without_the_budget_only_a_broker_that_is_down_is_unregistered() -> None:
    config = Config(broker_count=2, unregistrations=1, kills=1)
    with pytest.raises(NotEnabled, match="b is offline"):
        after(config, (Unregister, 1))
    assert after(config, (Kill, 1), (Unregister, 1)).spent.live_unregistrations == 0


def test_an_unclean_election_follows_the_current_setting() -> None:
    """Broker 1 lacks the record: it leads only once the setting allows it, and not after it is withdrawn."""
    config = Config(**{**KAFKA_4_3, "broker_count": 2, "min_isr": 1, "kills": 1, "fences": 1, "unclean_changes": 2})
    leaderless = ((Fence, 1), (Produce, 0, Acks.ALL), (Kill, 0), (Fence, 0), (ApplyMetadata, 1), (Unfence, 1))
    assert after(config, *leaderless).partition.leader is None
    with pytest.raises(NotEnabled, match="the topic allows unclean elections"):
        after(config, *leaderless, (ElectUncleanPeriodically,))
    allowed = (*leaderless, (ChangeUncleanElection,))
    assert after(config, *allowed).partition == after(config, *leaderless).partition
    assert after(config, *allowed, (ElectUncleanPeriodically,)).partition.leader == 1
    with pytest.raises(NotEnabled, match="the topic allows unclean elections"):
        after(config, *allowed, (ChangeUncleanElection,), (ElectUncleanPeriodically,))
