"""Small configurations for log directories that fail or are lost; part of `coverage_suite`.

name -> (knobs, steps before the search).
"""

from __future__ import annotations

from typing import Any

from elrcheck.model.choices import LostDirectory
from elrcheck.model.state import Acks, LogDir

QUIET = {"crashes": 0, "records": 0, "response_loss": False, "fetch_loss": False}
FAILING = {**QUIET, "directory_failures": 1}
HEARTBEAT = {**FAILING, "heartbeat_in_one_snapshot": True}
LOSING = {**QUIET, "directory_losses": 1, "clean_stops": 1}
WRITTEN = ("Produce", 0, Acks.ALL)
STOPPED = ("CleanStop", 1)

DIRECTORY_CASES: dict[str, tuple[dict[str, Any], tuple[tuple[Any, ...], ...]]] = {
    "failing": ({**FAILING, "records": 1}, ()),
    "failing-of-a-spare": ({**FAILING, "spare_brokers": 1}, ()),
    "failing-while-proposing": ({**FAILING, "records": 1, "min_isr": 1, "shrinks": 1}, (WRITTEN,)),
    "failing-while-fetching": ({**FAILING, "late_fetches": 1}, ()),
    "failed-and-elected": (
        {**FAILING, "fences": 1, "elections": 1, "unclean_elections": 1},
        (("FailDirectory", 1), ("ReportFailedDirectory", 1)),
    ),
    "unfenced-without-a-directory": ({**HEARTBEAT, "fences": 2}, (("Fence", 1), ("Fence", 0))),
    "failed-and-fenced": ({**HEARTBEAT, "fences": 1}, (("FailDirectory", 1), ("ReportFailedDirectory", 1))),
    "failing-after-a-kill": ({**HEARTBEAT, "kills": 1}, (("Kill", 1),)),
    "failing-in-a-shutdown": ({**HEARTBEAT, "shutdowns": 1}, (("StartControlledShutdown", 1),)),
    "losing-records": ({**LOSING, "records": 1, "directory_failures": 1}, (WRITTEN, ("Fetch", 1, 0, False), STOPPED)),
    "losing-a-clean-file": (
        {
            **LOSING,
            "directory_failures": 1,
            "lost_directory": LostDirectory.CLEAN_FILE,
            "assigns_before_registration": True,
            "directories_assigned": False,
        },
        (STOPPED,),
    ),
    "losing-unregistered": (
        {**LOSING, "unregistrations": 1, "assigns_before_registration": True},
        (STOPPED, ("LoseDirectory", 1, LogDir.DROPPED), ("Unregister", 1), ("Start", 1)),
    ),
    "losing-of-a-spare": ({**LOSING, "spare_brokers": 1, "report_elects": False}, ()),
    "returning-with-records": (
        {**FAILING, "records": 1, "kills": 1, "directory_losses": 1, "directory_returns": 1},
        (WRITTEN, ("Fetch", 1, 0, False), ("FailDirectory", 1), ("Kill", 1)),
    ),
    "unregistered-alive": (
        {**HEARTBEAT, "unregistrations": 1, "live_unregistrations": 1, "shutdowns": 1},
        (("FailDirectory", 1), ("Unregister", 1)),
    ),
    "unassigned": (
        {**QUIET, "clean_stops": 1, "unregistrations": 1, "directories_assigned": False, "report_elects": False},
        (),
    ),
}
