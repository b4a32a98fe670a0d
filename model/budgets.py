"""The budgets spent so far: how often each disturbance has occurred in a run, in the order of `Config`.

A budget is a field here and a field of the same name in `Config`, whose docstring says what it counts. The action that
it bounds adds one; `start.WithinBudget` compares the two. No rule reads these numbers, except that the number of
records written so far gives the next record its id.
"""

from __future__ import annotations

from typing import Annotated

from elrcheck.lang.runtime import record
from elrcheck.lang.types import nat


@record
class Spent:
    """Budgets spent so far; only the bound of a search reads them. `cap`: the budget bounds the counter."""

    records: Annotated[int, nat("Records", cap="records")] = 0
    acks_one: Annotated[int, nat("AcksOne", cap="acks_one")] = 0
    acks_zero: Annotated[int, nat("AcksZero", cap="acks_zero")] = 0
    crashes: Annotated[int, nat("Crashes", cap="crashes")] = 0
    kills: Annotated[int, nat("Kills", cap="kills")] = 0
    clean_stops: Annotated[int, nat("CleanStops", cap="clean_stops")] = 0
    fences: Annotated[int, nat("Fences", cap="fences")] = 0
    shrinks: Annotated[int, nat("Shrinks", cap="shrinks")] = 0
    shutdowns: Annotated[int, nat("Shutdowns", cap="shutdowns")] = 0
    shutdown_timeouts: Annotated[int, nat("ShutdownTimeouts", cap="shutdown_timeouts")] = 0
    unregistrations: Annotated[int, nat("Unregistrations", cap="unregistrations")] = 0
    live_unregistrations: Annotated[int, nat("LiveUnregistrations", cap="live_unregistrations")] = 0
    elections: Annotated[int, nat("Elections", cap="elections")] = 0
    unclean_elections: Annotated[int, nat("UncleanElections", cap="unclean_elections")] = 0
    reassignments: Annotated[int, nat("Reassignments", cap="reassignments")] = 0
    min_isr_changes: Annotated[int, nat("MinIsrChanges", cap="min_isr_changes")] = 0
    unclean_changes: Annotated[int, nat("UncleanChanges", cap="unclean_changes")] = 0
    feature_changes: Annotated[int, nat("FeatureChanges", cap="feature_changes")] = 0
    directory_changes: Annotated[int, nat("DirectoryChanges", cap="directory_changes")] = 0
    directory_failures: Annotated[int, nat("DirectoryFailures", cap="directory_failures")] = 0
    directory_losses: Annotated[int, nat("DirectoryLosses", cap="directory_losses")] = 0
    directory_returns: Annotated[int, nat("DirectoryReturns", cap="directory_returns")] = 0
    failovers: Annotated[int, nat("Failovers", cap="failovers")] = 0
    late_answers: Annotated[int, nat("LateAnswers", cap="late_answers")] = 0
    late_fetches: Annotated[int, nat("LateFetchesSent", cap="late_fetches")] = 0
    early_starts: Annotated[int, nat("EarlyStarts", cap="early_starts")] = 0
    early_writes: Annotated[int, nat("EarlyWrites", cap="early_writes")] = 0
    late_flushes: Annotated[int, nat("LateFlushes", cap="late_flushes")] = 0
    old_checkpoints: Annotated[int, nat("OldCheckpoints", cap="old_checkpoints")] = 0
