"""Guards that were renamed: names of the release before, as they stand in baselines, and what they are now.

A baseline names the guards of every action. One written by the release before is read with today's names,
and the report says so; `elrcheck gate --update-baseline` writes the new ones. The table is for one release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_LEADER = {
    "f is not l": "f is not leader",
    "f follows l": "f follows leader",
    "l leads": "leader leads",
    "l leads in the epoch of f": "leader leads in the epoch of f",
}
_PROPOSES = {"l leads and has nothing in flight": "leader leads with no request in flight", "l serves": "leader serves"}
_RUNS = {"b is up": "b is running or starting"}
# Action -> old name of a guard -> its name now.
RENAMED: Mapping[str, Mapping[str, str]] = {
    "GrantShutdown": {"the active brokers have applied its retreat": "every active broker knows that b has resigned"},
    "Fetch": _LEADER,
    "SendLateFetch": _LEADER,
    "ReadForLateFetch": {"l still runs": "the process that got the fetch still runs"},
    "ExpandIsr": _PROPOSES,
    "ShrinkIsr": _PROPOSES,
    "Crash": {**_RUNS, "keep is a prefix of the log": "keep is at most the length of the log"},
    "Kill": _RUNS,
    "ElectUncleanPeriodically": {"somebody can be elected": "a leader can be elected"},
    "Reassign": {"somebody is wanted": "the target is not empty", "the wish is a new one": "the target is a new one"},
    "ChangeMinIsr": {"not for a single broker": "level is the topic or the cluster"},
    "SendLogInfo": {"b is asked for its log": "b has no valid answer yet"},
    "CopyFromShadow": {"l synchronises": "leader synchronises", "f has more": "f has more records"},
    "EndSynchronisation": {
        "l synchronises": "leader synchronises",
        "l has nothing in flight": "leader has no AlterPartition in flight",
    },
}


def guard_now(action: str, guard: str) -> str:
    """Return the name that a guard of an action has now."""
    return RENAMED.get(action, {}).get(guard, guard)


def guards_now(action: str, guards: Iterable[str]) -> tuple[str, ...]:
    return tuple(guard_now(action, guard) for guard in guards)
