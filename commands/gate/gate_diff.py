"""Compares the results of a run with a baseline: one `Difference` for each mismatch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from elrcheck.base.typed.records import natural
from elrcheck.checking.baseline import COUNTS, Expected, Fired, Proof, Proved
from elrcheck.results.check_report import CheckReport
from elrcheck.results.gate_report import Difference, DifferenceKind, EntryVerdict
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.proofs.controller_report import ControllerReport
from elrcheck.results.prove_report import ProveReport

ABSENT = "absent"
NEVER, BEYOND = "never fires", "only beyond the budgets"
IDLE = (NEVER, BEYOND)
"""Coverage words for an action that takes part in no step."""
COUNT_WORDS: Mapping[str, str] = {
    "generated": "generated states",
    "distinct": "distinct states",
    "diameter": "diameter",
    "cut": "steps beyond the budgets",
    "deadlocks": "deadlocks",
}
_RANK = ("holds", "reached", "unreached", "inconclusive", ABSENT, "violated")
_PROOF_RANK = ("proved", "unknown", "inconclusive", ABSENT, "refuted")
_ORDER: Sequence[DifferenceKind] = (
    "new",
    "violated",
    "proof",
    "inconclusive",
    "witness",
    "verdict",
    "coverage",
    "guard",
    "teeth",
    "count",
)


def found_in(
    check: CheckReport,
    proof: ProveReport | None = None,
    mutations: MutateReport | None = None,
    controller: ControllerReport | None = None,
) -> Expected:
    """Return the results of a run that a baseline records."""
    return Expected(
        verdict=check.verdict,
        counts={name: getattr(check.search, name) for name in COUNTS},
        properties={p.id: p.verdict + ("" if p.depth is None else f" at depth {p.depth}") for p in check.properties},
        actions={action.name: Fired(action.fired, action.cut) for action in check.actions},
        guards={action.name: action.guards for action in check.actions},
        proof=None if proof is None else _proof_of(proof),
        teeth=None if mutations is None else _teeth_of(mutations),
        controller=None if controller is None else _events_of(controller),
    )


def cut_off(expected: Expected, check: CheckReport) -> bool:
    """Return whether a limit of states ended both this search and the recorded one.

    Such a search ends within a level, where counts depend on the threads, so they are not compared.
    """
    limited = (check.search.stopped_by or "").startswith("--max-states")
    return limited and expected.verdict == "inconclusive"


def _events_of(report: ControllerReport) -> dict[str, str]:
    """Return event -> `proved`, `impossible`, or the rules that are refuted or unknown."""
    (variant,) = report.variants
    verdicts = {}
    for event in variant.events:
        open_ = {"refuted": "", "unknown": ""}
        for cell in variant.cells:
            if cell.event == event.name and cell.verdict in open_:
                open_[cell.verdict] += f" {cell.rule}"
        worst = next((word + rules for word, rules in open_.items() if rules), "proved")
        verdicts[event.name] = worst if event.verdict == "possible" else event.verdict
    return verdicts


def _teeth_of(report: MutateReport) -> dict[str, str]:
    """Return guard -> the property that noticed its removal, or the verdict; without guards that were skipped."""
    return {
        f"{guard.action}: {guard.guard}": f"noticed by {guard.property} at depth {guard.depth}"
        if guard.verdict == "noticed"
        else guard.verdict
        for guard in report.guards
        if guard.verdict != "skipped"
    }


def _proof_of(report: ProveReport) -> Proof:
    cells: dict[str, tuple[str, ...]] = {}
    for cell in report.cells:
        cells[cell.action] = tuple(sorted((*cells.get(cell.action, ()), cell.lemma), key=natural))
    named: dict[str, Proved] = {f"initially {o.name}": o.verdict for o in report.initiation}
    named |= {f"{cell.action} x {cell.lemma}": cell.verdict for cell in report.cells}
    named |= {f"implied {o.id or o.name}": o.verdict for o in report.implication}
    return Proof(
        report.verdict,
        tuple(sorted((o.name for o in report.initiation), key=natural)),
        tuple(sorted((o.id or o.name for o in report.implication), key=natural)),
        cells,
        {name: verdict for name, verdict in named.items() if verdict != "proved"},
    )


def differences(
    expected: Expected, current: Expected, names: Mapping[str, str], fail_on: Sequence[str]
) -> tuple[Difference, ...]:
    """Return all differences, judged by `--fail-on`, the most informative first. names: property id -> name."""
    every = [
        *_properties(expected, current, names, fail_on),
        *_proof(expected.proof, current.proof),
        *_actions(expected, current, "unreached-action" in fail_on),
        *_guards(expected, current),
        *_teeth(expected.teeth or {}, current.teeth or {}),
        *_controller(expected.controller or {}, current.controller or {}),
        *_counts(expected, current),
    ]
    if expected.verdict != current.verdict == "inconclusive" or "inconclusive" in fail_on:
        every += _inconclusive(expected, current)
    return in_order(every, fail_on)


def in_order(every: Iterable[Difference], fail_on: Sequence[str]) -> tuple[Difference, ...]:
    """Return the differences, judged by `--fail-on`, the most informative first."""
    judged = [replace(one, fails=_fails(one, fail_on)) for one in every]
    return tuple(sorted(judged, key=lambda one: _ORDER.index(one.kind)))


def entry_verdict(every: Sequence[Difference]) -> EntryVerdict:
    """Return the verdict on an entry from its differences, judged by `--fail-on`."""
    if any(one.fails for one in every):
        return "drift"
    if any(one.kind == "inconclusive" and one.worse for one in every):
        return "inconclusive"
    return "tolerated" if every else "same"


def _fails(one: Difference, fail_on: Sequence[str]) -> bool:
    changed = one.expected != one.found
    return (
        ("drift" in fail_on and changed)
        or ("regression" in fail_on and changed and one.worse)
        or (one.kind == "violated" and "violated" in fail_on)
        or (one.kind == "inconclusive" and "inconclusive" in fail_on)
        or (one.kind == "coverage" and one.found in IDLE and "unreached-action" in fail_on)
        or (one.kind == "witness" and one.found == "unreached" and "unreached-witness" in fail_on)
    )


def _both(expected: Mapping[str, str], current: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (name, expected, current) for every name, in natural order."""
    for name in sorted({*expected, *current}, key=natural):
        yield name, expected.get(name, ABSENT), current.get(name, ABSENT)


def _properties(
    expected: Expected, current: Expected, names: Mapping[str, str], fail_on: Sequence[str]
) -> Iterator[Difference]:
    for ident, was, now in _both(expected.properties, current.properties):
        before, after = was.split(" ")[0], now.split(" ")[0]
        kind: DifferenceKind
        if after == "violated":
            kind = "violated"
        elif after == "inconclusive":
            kind = "inconclusive"
        elif {before, after} & {"reached", "unreached"}:
            kind = "witness"
        else:
            kind = "verdict"
        word = kind if kind in ("violated", "inconclusive") else f"{after}-{kind}"
        if was != now or word in fail_on:
            what = f"{ident} {names.get(ident, '')}".strip()
            yield Difference(ident, what, was, now, kind, _RANK.index(after) > _RANK.index(before))


def _proof(expected: Proof | None, current: Proof | None) -> Iterator[Difference]:
    """Yield the differences of a proof.

    A missing cell is not a regression: its action can no longer affect the goal (`Frame`).
    """
    was = {} if expected is None else expected.obligations()
    now = {} if current is None else current.obligations()
    if expected is None and current is not None:
        count = f"{len(now)} obligations, {current.verdict}"
        yield Difference("proof", "proof", ABSENT, count, "proof", current.verdict != "proved")
        return
    explained = False
    for name, before, after in _both(was, now):
        if before != after:
            moved = " x " in name and after == ABSENT
            worse = not moved and _PROOF_RANK.index(after) > _PROOF_RANK.index(before)
            explained = explained or worse
            yield Difference(name, name, before, after, "proof", worse)
    if expected is not None and current is not None and not explained:
        before, after = expected.verdict, current.verdict
        if _PROOF_RANK.index(after) > _PROOF_RANK.index(before):  # such as a step that can never fire
            yield Difference("proof", "proof", before, after, "proof", True)


def _actions(expected: Expected, current: Expected, named: bool) -> Iterator[Difference]:
    """Yield the differences of actions. named: also report idle actions that the baseline expects."""
    complete = current.verdict != "inconclusive"
    for name in sorted({*expected.actions, *current.actions}):
        was, now = expected.actions.get(name), current.actions.get(name)
        before, after = _coverage(was), _coverage(now)
        if named and complete and was == now and after in IDLE:
            yield Difference(name, f"action {name}", before, after, "coverage", False)
        if was == now:
            continue
        if before != after:
            worse = after != "fires" and before == "fires"
            yield Difference(name, f"action {name}", before, after, "coverage", worse)
            continue
        if was is None or now is None:
            continue
        for word, one, other in (("enabled", was.fired, now.fired), ("beyond the budgets", was.cut, now.cut)):
            if one != other:
                yield Difference(name, f"action {name}, {word}", str(one), str(other), "count", False)


def _coverage(action: Fired | None) -> str:
    if action is None:
        return ABSENT
    if action.fired != action.cut:
        return "fires"
    return BEYOND if action.fired else NEVER


def _guards(expected: Expected, current: Expected) -> Iterator[Difference]:
    """Yield the guards that actions lost, which is a regression, or gained. Missing actions are coverage."""
    for name in sorted({*expected.guards, *current.guards}):
        if name not in expected.guards or name not in current.guards:
            continue
        was, now = expected.guards[name], current.guards[name]
        for guard in dict.fromkeys((*was, *now)):
            if guard not in now:
                yield Difference(name, f"{name}, guard: {guard}", "present", ABSENT, "guard", True)
            elif guard not in was:
                yield Difference(name, f"{name}, guard: {guard}", ABSENT, "present", "guard", False)


def _teeth(expected: Mapping[str, str], current: Mapping[str, str]) -> Iterator[Difference]:
    """Yield the guards whose removal another property notices now, or none: then some property lost its teeth."""
    for name, was, now in _both(expected, current):
        if was != now:
            worse = was.startswith("noticed") and not now.startswith("noticed")
            yield Difference(name, f"without {name}", was, now, "teeth", worse)


def _controller(expected: Mapping[str, str], current: Mapping[str, str]) -> Iterator[Difference]:
    """Yield the events of the controller with another result."""
    for name, was, now in _both(expected, current):
        if was != now:
            worse = was == "proved" or now.startswith("refuted")
            yield Difference(name, f"controller event {name}", was, now, "proof", worse)


def _counts(expected: Expected, current: Expected) -> Iterator[Difference]:
    for name in COUNTS:
        was, now = expected.counts[name], current.counts[name]
        if was != now:
            yield Difference(name, COUNT_WORDS[name], str(was), str(now), "count", False)


def _inconclusive(expected: Expected, current: Expected) -> Iterator[Difference]:
    """Yield a difference if the run as a whole is inconclusive; an unknown proof obligation has its own."""
    if current.verdict == "inconclusive":
        was = expected.verdict
        yield Difference("verdict", "verdict", was, current.verdict, "inconclusive", was != current.verdict)
