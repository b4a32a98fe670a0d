"""A proof as text: failures first, then the totals, and the verdict last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from elrcheck.report.document import (
    Block,
    Case,
    Headline,
    Labelled,
    Line,
    Number,
    Outcome,
    ReportKind,
    ReportKinds,
    Sheet,
    Suite,
    Table,
    grouped,
)
from elrcheck.report.documents.trace_document import source_blocks
from elrcheck.report.plain_words import broker_count, from_store, settings_of, several
from elrcheck.report.words.proof_failures import cell_blocks, failed_cells, failed_step, obligation_blocks, subject
from elrcheck.results.prove_report import (
    CellReport,
    CellVerdict,
    Coverage,
    ObligationReport,
    PossibleReport,
    ProveReport,
    RootFailure,
    SecondSolver,
    Skipped,
    Surviving,
    WaitReport,
)
from elrcheck.results.trace_view import Step, TraceView

_PROOF: dict[CellVerdict, Outcome] = {"proved": "passed", "refuted": "failed", "unknown": "undecided"}
_NEEDED = {True: "yes", False: "no", None: "unknown"}


def prove_blocks(report: ProveReport, detail: int = 0) -> Iterator[Block]:
    for obligation in (*report.initiation, *report.implication):
        if obligation.verdict != "proved":
            yield from obligation_blocks(obligation)
    yield from failed_cells(report, detail)
    for wait in report.waits:
        for state in wait.states:
            yield from obligation_blocks(state)
        for cell in wait.cells:
            yield from failed_step(f"{cell.action}: {cell.lemma}", cell)
    if report.sizes == "any":
        yield from _open_cells(report)
    for one in report.possible.impossible if report.possible is not None else ():
        yield Headline("inconclusive", one.statement)
        yield Labelled("source", one.source)
    whole = detail > 0 or not report.roots
    if detail >= 0 and whole:
        yield from _implications(report)
    if detail >= 0:
        yield from _waits(report)
        yield from _reductions(report)
        yield from _phases(report)
    if detail > 0:
        yield Table(
            ("action", "lemma", "verdict", "seconds", "needed"),
            [
                (cell.action, cell.lemma, cell.verdict, Number(f"{cell.seconds:.2f}"), ", ".join(cell.core))
                for cell in report.cells
            ],
        )
        yield Table(
            ("subject", "verdict", "seconds", "needed"),
            [(subject(o), o.verdict, Number(f"{o.seconds:.2f}"), ", ".join(o.core)) for o in report.initiation],
        )
        yield Table(("setting", "value"), settings_of(report.config))
    if detail >= 0 and whole:
        yield from claim_blocks(report.coverage)
    if detail >= 0:
        yield from _possible(report.possible)
    if report.surviving is not None and report.surviving.dropped:
        yield from _surviving(report.surviving)
    if report.needs is not None:
        yield Table(
            ("lemma", "needed", "open without it"),
            [
                (one.lemma, _NEEDED[one.needed], " x ".join(filter(None, (one.action, one.goal))))
                for one in report.needs
            ],
        )
    if report.second is not None:
        yield from _second(report.second)
    rest = f"{report.solver.name} {report.solver.version}, {report.seconds:.1f} s"
    yield Labelled("kept", from_store(report.kept))
    yield Headline(report.verdict, f"{report.variant}{claim(report)}, {rest}")
    yield from source_blocks(report)


def _open_cells(report: ProveReport) -> Iterator[Block]:
    """Yield the cells of a proof for any size that the solver did not decide, by action."""
    by_action: dict[str, list[str]] = {}
    for cell in report.cells:
        if cell.verdict == "unknown":
            by_action.setdefault(cell.action, []).append(cell.lemma)
    yield Table(
        ("action", "open", "not covered"),
        [(action, Number(str(len(names))), ", ".join(names)) for action, names in by_action.items()],
    )


def _every_size(report: ProveReport) -> str:
    """Return how many cells are proved for every size, and how many are open or refuted."""
    count = {verdict: sum(cell.verdict == verdict for cell in report.cells) for verdict in _PROOF}
    left = f", {count['unknown']} open, {count['refuted']} refuted" if count["proved"] < len(report.cells) else ""
    sizes = "" if report.coverage is None else f" for {', '.join(report.coverage.sizes)}"
    return f": {count['proved']} of {len(report.cells)} cells proved{sizes}{left}"


def claim(report: ProveReport) -> str:
    """Return the extent of the verdict: properties, actions, assumptions and sizes."""
    covered = report.coverage
    if report.sizes == "any" and report.verdict != "proved" and not report.interrupted:
        return f"{_every_size(report)}{assumptions_text(report)}"
    if report.verdict != "proved":
        every: list[ObligationReport | CellReport] = [*report.initiation, *report.implication, *report.cells]
        open_ones = [one for one in every if one.verdict != "proved"]
        for wait in report.waits:
            open_ones += [*wait.states, *wait.cells]
        whole = len(every) + sum(wait.obligations for wait in report.waits)
        if report.interrupted:
            refuted = sum(one.verdict == "refuted" for one in open_ones)
            decided = f"interrupted, {grouped(whole)} obligations answered, {refuted} refuted"
            return f": {decided}{assumptions_text(report)}"
        number = 0 if report.possible is None else len(report.possible.impossible)
        more = f", {several(number, 'step')} that must be possible cannot be shown to be" if number else ""
        return f": {len(open_ones)} of {whole} obligations open{more}{assumptions_text(report)}"
    if report.reductions:
        return f": {several(len(report.reductions), 'reduction')} of searches lose nothing"
    if covered is None:
        return assumptions_text(report)
    extent = (
        f": {covered.properties} of {covered.all_properties} properties,"
        f" {covered.actions} of {covered.all_actions} actions"
    )
    chosen = [one.statement for one in report.assumptions]
    number = len([one for one in covered.assumed if one not in chosen])
    always = f", {number} assumption{'s' if number > 1 else ''}" if number else ""
    fair = ", on fair runs" if report.waits else ""
    claimed = f"{extent}{always}{assumptions_text(report)}{fair}, with {bounds(covered, report.config)}"
    return f"{claimed}, interrupted before the other answers" if report.interrupted else claimed


def bounds(covered: Coverage, config: Mapping[str, object]) -> str:
    """Return what bounds the claim: sizes, and what the configuration makes atomic or immediate."""
    if covered.brokers is None:
        return ", ".join(covered.sizes) or "no sizes"
    records = several(covered.log_slots, "record")
    parts = [several(covered.brokers, "broker"), f"at most {records} ever committed"]
    if not config.get("late_fetches"):
        parts.append("atomic fetches")
    if config.get("metadata") == "LATEST":
        parts.append("newest metadata")
    return ", ".join(parts)


def assumptions_text(report: ProveReport) -> str:
    """Return the assumptions of the verdict, for every headline."""
    return "".join(f", under the assumption that {one.statement}" for one in report.assumptions)


def claim_blocks(covered: Coverage | None) -> Iterator[Block]:
    """Yield what the claim covers: the sizes, and the one value of each knob that matters."""
    if covered is None:
        return
    yield Labelled("variant", covered.about)
    yield Labelled("sizes", _sizes_covered(covered))
    steps = f"{covered.choices} of {covered.all_choices} choices of arguments of all actions"
    if covered.renamed:
        members = "members" if covered.brokers is None else "brokers"
        steps += f", {covered.renamed} of them by renaming the {members} of others"
    yield Labelled("steps", steps)
    for assumption in covered.assumed:
        yield Labelled("assumed", assumption)
    for one in covered.settings:
        others = [value for value in one.values if value != one.value]
        less = f", not {' or '.join(others)}" if others else ""
        own = "" if one.value == one.variant else f" (the variant has {one.variant})"
        yield Labelled("setting", f"{one.name} is {one.value}{less}{own}")


def _sizes_covered(covered: Coverage) -> str:
    if covered.brokers is None:
        return f"{', '.join(covered.sizes)}; numbers without a limit of their own, and no budgets"
    replicas = "changes" if covered.replicas is None else f"{list(covered.replicas)} throughout"
    if covered.any_order:
        replicas = "in any order, the same throughout"
    return (
        f"{several(covered.brokers, 'broker')}, replica list {replicas}, min ISR {covered.min_isr},"
        f" logs of up to {several(covered.log_slots, 'record')}, so that no run ever commits more;"
        " epochs and disturbances without bound"
    )


def _possible(possible: PossibleReport | None) -> Iterator[Block]:
    if possible is not None:
        number = possible.asked - len(possible.impossible)
        yield Labelled(
            "possible",
            f"{number} of {possible.asked} steps and states that the proof must not exclude;"
            f" {grouped(possible.replayed)} steps of the solver replayed in plain Python",
        )


def _surviving(surviving: Surviving) -> Iterator[Block]:
    """Yield the properties that the surviving lemmas prove, and those that they do not."""
    yield Table(
        ("dropped", "action"),
        [(one.lemma, f"{one.action or 'Init'}{' (unknown)' * one.unknown}") for one in surviving.dropped],
    )
    for one in surviving.void:
        yield Labelled("void", f"{one.action} may break {one.lemma} without them, so nothing is proved")
    yield Labelled("survive", f"{len(surviving.lemmas)} lemmas, which prove what follows")
    for word, proved in (("proved", True), ("open", False)):
        yield Labelled(word, ", ".join(each.id for each in surviving.properties if each.proved is proved))


def _second(second: SecondSolver) -> Iterator[Block]:
    for word, names in (("refuted", second.refuted), ("unknown", second.unknown)):
        for name in names:
            yield Labelled(word, f"{name}, by {second.solver.name}")
    solver = f"{second.solver.name} {second.solver.version}"
    yield Line(f"{solver} discharged {second.discharged} of {second.questions} again, {second.seconds:.1f} s")


def _implications(report: ProveReport) -> Iterator[Block]:
    whole = {one.verdict for one in report.initiation} | {one.verdict for one in report.cells} <= {"proved"}
    verdicts = [o.verdict if whole or o.verdict != "proved" else "follows" for o in report.implication]
    yield Table(
        ("id", "property", "verdict", "seconds", "needed"),
        [
            (o.id or "", o.name, verdict, Number(f"{o.seconds:.2f}"), ", ".join(o.core))
            for o, verdict in zip(report.implication, verdicts, strict=True)
        ],
    )
    if "follows" in verdicts:
        yield Labelled("follows", "from the lemmas needed; it is proved once every step preserves all lemmas")
    for one in report.implication:
        yield Labelled(one.id or one.name, one.condition and f"proved where {one.condition}")
    yield Table(
        ("id", "not covered", "reason"), [(skipped.id, skipped.name, skipped.reason) for skipped in report.skipped]
    )


def _waits(report: ProveReport) -> Iterator[Block]:
    yield Table(
        ("id", "wait", "verdict", "obligations", "seconds", "ends once these stop"),
        [
            (
                wait.id,
                wait.name,
                wait.verdict,
                wait.obligations,
                Number(f"{wait.seconds:.1f}"),
                ", ".join(wait.disturbances) or "(always)",
            )
            for wait in report.waits
        ],
    )


def _reductions(report: ProveReport) -> Iterator[Block]:
    yield Table(
        ("reduction", "verdict", "obligations", "seconds", "assumes the lemmas"),
        [
            (one.name, one.verdict, one.obligations, Number(f"{one.seconds:.1f}"), ", ".join(one.lemmas) or "(none)")
            for one in report.reductions
        ],
    )


def _phases(report: ProveReport) -> Iterator[Block]:
    yield Table(
        ("phase", "proved", "kept", "refuted", "unknown", "seconds"),
        [
            (phase.name, phase.proved, phase.kept or None, phase.refuted, phase.unknown, Number(f"{phase.seconds:.1f}"))
            for phase in report.phases
        ],
    )


def prove_sheet(report: ProveReport) -> Sheet:
    brokers = broker_count(report.config)
    first = {(root.actions[0], root.lemma): root for root in report.roots}
    named = {
        "initiation": tuple(obligation_case(o) for o in report.initiation),
        "consecution": tuple(cell_case(cell, first.get((cell.action, cell.lemma))) for cell in report.cells),
        "implication": tuple(obligation_case(o) for o in report.implication),
        "waits": tuple(_wait_case(wait) for wait in report.waits),
        "not covered": tuple(_skipped_case(skipped) for skipped in report.skipped),
    }
    suites = tuple(
        Suite(f"{report.variant}, {name}", cases, brokers, sum(case.seconds for case in cases))
        for name, cases in sorted(named.items(), key=lambda one: all(case.outcome != "failed" for case in one[1]))
        if cases
    )
    waiting = sum(wait.obligations for wait in report.waits)
    open_waits = sum(len(wait.states) + len(wait.cells) for wait in report.waits)
    total = len(report.initiation) + len(report.cells) + len(report.implication) + waiting
    proved = sum(phase.proved for phase in report.phases) + waiting - open_waits
    about, covered = "", report.coverage
    if covered is not None:
        about = f" about {covered.properties} of {covered.all_properties} properties"
        about += f" and {covered.actions} of {covered.all_actions} actions"
    summary = f"{report.variant}: {proved} of {total} obligations{about} proved, {report.seconds:.1f} s"
    summary += assumptions_text(report)
    return Sheet(summary, suites)


def _wait_case(wait: WaitReport) -> Case:
    opened = [one.name for one in wait.states] + [f"{cell.action}: {cell.lemma}" for cell in wait.cells]
    stop = f", once these stop: {', '.join(wait.disturbances)}" if wait.disturbances else ""
    name, message = f"{wait.name}: every wait ends{stop}", "; ".join(opened)
    outcome, ident = _PROOF[wait.verdict], f"{wait.id} {wait.name}"
    return Case(ident, name, outcome, wait.verdict, message, source=wait.source, seconds=wait.seconds, rule=wait.id)


def cell_case(cell: CellReport, root: RootFailure | None = None) -> Case:
    """Return the case of a cell. root: the failure that it is the first of, if any."""
    trace, message = None, ""
    if cell.verdict != "proved":
        message = f"{cell.action} does not preserve {cell.lemma}: {cell.verdict}"
    if cell.failure is not None:
        message += f" ({cell.failure.conjunct})" if cell.failure.conjunct else ""
        failure = cell.failure
        where = failure.source or ""
        step = Step(1, cell.action, failure.arguments, "", failure.changes, where, failure.talk)
        trace = TraceView(failure.before, (step,))
    text = tuple(cell_blocks(cell, root)) if message else ""
    return Case(
        f"{cell.action} x {cell.lemma}",
        f"{cell.action} preserves {cell.lemma}",
        _PROOF[cell.verdict],
        cell.verdict,
        message,
        text,
        cell.source,
        None,
        trace,
        cell.seconds,
        cell.lemma,
    )


def obligation_case(obligation: ObligationReport) -> Case:
    proved = obligation.verdict == "proved"
    message = "" if proved else f"{obligation.name}: {obligation.verdict}"
    text = "" if proved else tuple(obligation_blocks(obligation))
    return Case(
        obligation.id or obligation.name,
        obligation.name,
        _PROOF[obligation.verdict],
        obligation.verdict,
        message,
        text,
        obligation.source,
        seconds=obligation.seconds,
    )


def _skipped_case(skipped: Skipped) -> Case:
    """Return the case of a property, an action or arguments of one that the proof does not cover."""
    ident = skipped.name if skipped.id in ("action", "arguments") else skipped.id
    return Case(ident, skipped.name, "undecided", "not covered", skipped.reason)


KINDS: ReportKinds = {ProveReport: ReportKind("prove", prove_blocks, prove_sheet)}
