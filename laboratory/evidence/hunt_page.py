"""docs/findings/hunt.md: what each operation with each fault breaks in each release, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import structs

from elrcheck.catalogue.evidence.conformance import model_digest
from elrcheck.laboratory.evidence.hunted import DESIGNS, Hunt, HuntedCase, HuntedViolation, hunted_cases, is_whole
from elrcheck.laboratory.evidence.page_lines import head, paragraphs, table

SOME = "Not every repair was left out in every configuration: `left_out` in the data has those that were.\n"
SHORT = dict(zip(DESIGNS, ("KIP", "KIP-R", "KIP-E"), strict=True))


def hunt_page(hunt: Hunt) -> str:
    """Return the page as Markdown."""
    broken = [case for case in hunt.cases if case.violations]
    single = [case for case in broken if not _operations(case)[1:]]
    cases = {case.name.partition("/")[2]: case for case in hunted_cases()}
    whole = all(is_whole(case, cases[case.name]) for case in broken)
    start = head("hunt") if whole else f"{head('hunt')}\n{SOME}"
    rows = table(("operation/fault", "variants", "why properties break"), _rows(single))
    return "\n".join([start, *_summary(hunt), *rows, *_pairs(hunt), *_others(hunt)]).rstrip() + "\n"


def because(violation: HuntedViolation) -> str:
    """Return the reasons for a violation as text, with the abbreviations of the page."""
    reasons = list(dict.fromkeys(SHORT.get(reason, reason) for reason in violation.reasons))
    return ", ".join(reasons if violation.explained else [*reasons, "not explained"])


def _summary(hunt: Hunt) -> Iterator[str]:
    violations = [each for case in hunt.cases for each in case.violations]
    broken = sum(1 for case in hunt.cases if case.violations)
    unexplained = sum(1 for each in violations if not each.explained)
    yield from paragraphs(
        f"Of {len(hunt.cases)} configurations {broken} break something, {len(violations)} properties in all;"
        f" {unexplained or 'none'} of these {'is' if unexplained == 1 else 'are'} without an explanation."
    )
    if older := sum(1 for case in hunt.cases if case.model != model_digest()):
        yield from paragraphs(f"{older} were searched before the model's source last changed, and not since.")


def _rows(broken: Sequence[HuntedCase]) -> Iterator[Sequence[str]]:
    """Yield a row for all operations with faults that break properties for the same reasons, in the same variants."""
    hunted = dict.fromkeys(case.selection.variant for case in hunted_cases())
    all_of_4 = ", ".join(name for name in hunted if name.startswith("code_4_"))
    alike: dict[tuple[str, str], list[str]] = {}
    for name, cases in groupby(broken, key=lambda case: case.name.partition("@")[0]):
        for text, same in groupby(cases, key=_reasons):
            variants = ", ".join(case.variant for case in same).replace(all_of_4, "code_4_*")
            alike.setdefault((variants, text), []).append(name)
    for (variants, text), names in alike.items():
        yield ", ".join(names), variants, text


def _operations(case: HuntedCase) -> list[str]:
    """Return the operations that a configuration combines."""
    return case.name.partition("/")[0].split("+")


def _pairs(hunt: Hunt) -> Iterator[str]:
    """Yield paragraphs about what two operations break together that neither breaks alone with the same fault."""
    by_name = {case.name: case for case in hunt.cases}
    pairs = [case for case in hunt.cases if _operations(case)[1:]]
    if not pairs:
        return
    more = []
    for case in pairs:
        fault = case.name.partition("/")[2]
        alone = [by_name.get(f"{one}/{fault}@{case.variant}") for one in _operations(case)]
        broken_alone = {each.name for one in alone if one is not None for each in one.violations}
        new = [each for each in case.violations if each.name not in broken_alone]
        if new:
            more.append(f"`{case.name}` {_violations(structs.replace(case, violations=tuple(new)))}")
    beyond = f": {'; '.join(more)}" if more else ""
    yield from paragraphs(
        f"Of {len(pairs)} pairs of operations (`laboratory/evidence/hunt_pairs.toml`), {len(more)} break a property"
        f" that neither operation breaks alone with that fault{beyond}."
    )


def _reasons(case: HuntedCase) -> str:
    reasons = sorted({reason for each in case.violations for reason in because(each).split(", ")})
    return ", ".join(reasons) + ("" if case.complete else "; limit reached")


def _violations(case: HuntedCase) -> str:
    by_reason: dict[str, list[str]] = {}
    for each in case.violations:
        by_reason.setdefault(because(each), []).append(each.name)
    text = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return text if case.complete else f"{text}; limit reached"


def _others(hunt: Hunt) -> Iterator[str]:
    """Yield paragraphs about the configurations without a row: not searched, limited, or without a violation."""
    searched = {case.name for case in hunt.cases}
    names = (case.name.partition("/")[2] for case in hunted_cases())
    if unsearched := [f"`{name}`" for name in names if name not in searched]:
        yield from paragraphs(f"Not searched: {', '.join(unsearched)}.")
    quiet = [case for case in hunt.cases if not case.violations]
    if limited := [f"`{case.name}`" for case in quiet if not case.complete]:
        yield from paragraphs(f"No violation before the limit of states in {', '.join(limited)}.")
    if any(case.complete for case in quiet):
        yield from paragraphs("Nothing breaks in the others, which were searched to the end.")
