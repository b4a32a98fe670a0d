"""docs/findings/hunt.md: what each operation with each fault breaks in each release, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from elrcheck.laboratory.evidence.hunted import DESIGNS, Hunt, HuntedCase, HuntedViolation, hunted_cases, is_whole
from elrcheck.model.variants import variant_named

HEAD = """\
# The hunt

<!-- Written by `python docs/generate_findings.py` from laboratory/evidence/hunted.json. -->

Nine operations, each with five kinds of fault, put to the rules of released Kafka, with two brokers and one
record (`laboratory/evidence/hunt.toml`). Searches say which finding explains each violation: with the repairs
of all findings the property holds, and with one repair left out it breaks again, or in fewer steps. What
breaks with all repairs is by design if the KIP breaks it too, in no more steps: the only copy is lost, say.
F-26 has no repair: it is named where the shortest trace with all repairs ends with the switch of the feature.

`python docs/search_hunt.py 'reassign/crash@code_4_0'` repeats all searches of a configuration, and compares.
"""
SOME = """
Not every repair was left out in every configuration: `left_out` in the data has those that were.
"""
UNREGISTERED = """\
P-9 in `unregister/stop` is F-21: a broker that stopped in order is unregistered and stays in the ELR. When it
registers again it counts as stopped uncleanly, and is dropped though it has every record. With the repair it
leaves the ELR with its registration, and only an operator's request has made the quorum smaller.
"""


def hunt_page(hunt: Hunt) -> str:
    broken = [case for case in hunt.cases if case.violations]
    cases = {case.name.partition("/")[2]: case for case in hunted_cases()}
    whole = all(is_whole(case, cases[case.name]) for case in broken)
    head = HEAD if whole else f"{HEAD.rstrip()}\n{SOME}"
    lines = [head, *_summary(hunt), UNREGISTERED, *_rows(broken), *_others(hunt)]
    return "\n".join(lines).rstrip() + "\n"


def because(violation: HuntedViolation) -> str:
    """The reasons in the words of the page."""
    said = [f"by design of {reason}" if reason in DESIGNS else reason for reason in violation.reasons]
    return "; ".join(said if violation.explained else [*said, "not explained"])


def _summary(hunt: Hunt) -> Iterator[str]:
    every = [each for case in hunt.cases for each in case.violations]
    broken = sum(1 for case in hunt.cases if case.violations)
    new = sum(1 for each in every if not each.explained)
    yield (
        f"Of {len(hunt.cases)} configurations {broken} break something, {len(every)} properties in all;"
        f" {new or 'none'} of these {'is' if new == 1 else 'are'} without an explanation."
    )
    yield ""
    yield "| explained by | properties broken | configurations |"
    yield "|---|---|---|"
    reasons = sorted({reason for each in every for reason in each.reasons}, key=_order)
    for reason in reasons:
        cases = sum(1 for case in hunt.cases if any(reason in each.reasons for each in case.violations))
        count = sum(1 for each in every if reason in each.reasons)
        yield f"| {f'by design of {reason}' if reason in DESIGNS else reason} | {count} | {cases} |"
    yield ""


def _order(reason: str) -> tuple[bool, list[int], str]:
    numbers = [int(part.removeprefix("F-")) for part in reason.split(" + ")] if reason not in DESIGNS else []
    return reason in DESIGNS, numbers, reason


def _rows(broken: Sequence[HuntedCase]) -> Iterator[str]:
    yield "| operation/fault | Kafka | what breaks, and why | search |"
    yield "|---|---|---|---|"
    for name, cases in groupby(broken, key=_name):
        for said, same in groupby(cases, key=_said):
            alike = list(same)
            releases = ", ".join(_releases(case.variant) for case in alike)
            yield f"| {name} | {releases} | {said} | `{alike[0].command}` |"
    yield ""


def _name(case: HuntedCase) -> str:
    return case.name.partition("@")[0]


def _said(case: HuntedCase) -> str:
    by: dict[str, list[str]] = {}
    for each in case.violations:
        by.setdefault(because(each), []).append(each.name)
    said = ". ".join(f"{', '.join(names)}: {why}" for why, names in by.items())
    return said if case.complete else f"{said}. Not all searches were complete"


def _releases(variant: str) -> str:
    found = variant_named(variant)
    assert found is not None
    first, last = found.kafka[0], found.kafka[-1]
    return first if first == last else f"{first} to {last}"


def _others(hunt: Hunt) -> Iterator[str]:
    """Those that break nothing, and those of which it is not known."""
    searched = {case.name for case in hunt.cases}
    left = [case.name.partition("/")[2] for case in hunted_cases()]
    if left := [f"`{name}`" for name in left if name not in searched]:
        yield f"Not searched: {', '.join(left)}."
        yield ""
    for complete, said in ((True, "Nothing breaks in"), (False, "Nothing was found before the limit of states in")):
        by: dict[str, list[str]] = {}
        for case in hunt.cases:
            if not case.violations and case.complete == complete:
                by.setdefault(_name(case), []).append(_releases(case.variant))
        if by:
            parts = (f"`{name}` ({', '.join(releases)})" for name, releases in by.items())
            yield f"{said} {', '.join(parts)}."
            yield ""
