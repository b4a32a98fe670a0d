"""Solvers that discharge the text of obligations, with the time of each answer.

`Cvc5` is independent of the prover (the extra `cvc5`); `Z3` reads the same text with the prover's own solver, for
machines without cvc5. The lines of a certificate have been checked before.

`RelevantLines` are those that a question's names lead to. A solver that is given fewer assertions is faster, and what
it refutes with them is refuted with all.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.requests import ProofSolver

SatVerdict: TypeAlias = Literal["unsat", "sat", "unknown"]
EXTRA = "pip install 'cvc5>=1.2'"
PROVES: Mapping[str, str] = {
    "incremental": "false",
    "produce-proofs": "true",
    "proof-granularity": "dsl-rewrite",
    "proof-print-reference": "true",
    "static-learning": "false",
}
"""Options of cvc5 for a proof that declares and defines no name of the question, in rules that ethos knows: those of
static learning it does not."""
ATTEMPTS: Sequence[Mapping[str, str]] = ({}, {"enum-inst": "true"})
"""Options of cvc5, tried in turn while it gives up before its time: instances by triggers, then also by enumeration."""


@dataclass(frozen=True)
class TimedAnswer:
    """The answer to one question."""

    verdict: SatVerdict
    seconds: float


class TextSolver(Protocol):
    """A solver that has read some lines, and answers questions about them."""

    def read(self, lines: Sequence[str]) -> None:
        """Execute commands without a question."""

    def ask(self, lines: Sequence[str]) -> TimedAnswer:
        """Execute commands, the last of which is the question; return its answer."""


class Cvc5:
    """cvc5 through its own parser. timeout: seconds for each question; options: more of its options."""

    def __init__(self, timeout: float, options: Mapping[str, str] = {}) -> None:
        library = cvc5_library()
        manager = library.TermManager()
        self._solver = library.Solver(manager)
        own = {"incremental": "true", "tlimit-per": str(max(1, int(timeout * 1000)))}
        for name, value in (own | dict(options)).items():
            self._solver.setOption(name, value)
        self._symbols = library.SymbolManager(manager)
        self._parser = library.InputParser(self._solver, self._symbols)
        self._smtlib = library.InputLanguage.SMT_LIB_2_6

    def read(self, lines: Sequence[str]) -> None:
        for _ in self._run(lines):
            pass

    def ask(self, lines: Sequence[str]) -> TimedAnswer:
        started = time.perf_counter()
        *_, output = self._run(lines)
        return TimedAnswer(_verdict(output), time.perf_counter() - started)

    def proof(self) -> str:
        """Return the proof of the answer `unsat`, a step in a line, without the parentheses around all."""
        (output,) = self._run(("(get-proof)",))
        return "".join(f"{line}\n" for line in output.splitlines()[1:-1] if not line.startswith("(reference "))

    def _run(self, lines: Sequence[str]) -> Iterator[str]:
        self._parser.setStringInput(self._smtlib, "\n".join(lines), "certificate")
        while not (command := self._parser.nextCommand()).isNull():
            yield command.invoke(self._solver, self._symbols)


class Z3:
    """Z3 through its reader of SMT-LIB, in a context of its own."""

    def __init__(self, timeout: float) -> None:
        import z3

        self._evaluate = z3.Z3_eval_smtlib2_string
        self._context = z3.Context()
        self._run(f"(set-option :timeout {max(1, int(timeout * 1000))})")

    def read(self, lines: Sequence[str]) -> None:
        self._run("\n".join(lines))

    def ask(self, lines: Sequence[str]) -> TimedAnswer:
        started = time.perf_counter()
        return TimedAnswer(_verdict(self._run("\n".join(lines))), time.perf_counter() - started)

    def _run(self, text: str) -> str:
        return str(self._evaluate(self._context.ref(), text))


def open_solver(name: ProofSolver, timeout: float) -> TextSolver:
    return Cvc5(timeout) if name == "cvc5" else Z3(timeout)


def solver_version(name: ProofSolver) -> str:
    if name == "cvc5":
        library = cvc5_library()
        version = library.Solver(library.TermManager()).getVersion()
        return version.decode() if isinstance(version, bytes) else str(version)
    import z3

    return str(z3.get_version_string())


def cvc5_library() -> Any:
    """Import the package cvc5; raise EnvironmentFault if it is not installed."""
    try:
        return importlib.import_module("cvc5")
    except ImportError as fault:
        raise EnvironmentFault(
            "solver-missing", "the package cvc5, the second solver of proofs, is not installed", help=EXTRA
        ) from fault


def _verdict(output: str) -> SatVerdict:
    word = output.split()[0] if output.split() else ""
    if word == "unsat":
        return "unsat"
    return "sat" if word == "sat" else "unknown"


_SYMBOL = re.compile(r"\|[^|]*\||[^\s()|]+")
_LAZY = re.compile(
    r"\(assert (?:\(=> (lemma!\S+)|\(= (\|[^|]*'[^|]*\||[^\s()|]*'[^\s()|]*)|\(forall \(.*?\)\) \(= \((\S+)) "
)
"""An assertion about one name, which is of no use without it: what a lemma's literal implies, the value of a variable
after the step, the value of a function."""


class RelevantLines:
    """Chooses among the lines before the questions of a script: declarations, definitions, assertions."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = tuple(lines)
        self._names = [frozenset(_SYMBOL.findall(line)) for line in self._lines]
        self._of_name: dict[str, list[int]] = {}
        self._always: list[int] = []
        for number, line in enumerate(self._lines):
            if line.startswith(("(declare-", "(define-")):
                self._of_name.setdefault(_SYMBOL.findall(line)[1], []).append(number)
            elif (match := _LAZY.match(line)) is not None:
                self._of_name.setdefault(next(filter(None, match.groups())), []).append(number)
            else:
                self._always.append(number)

    def of(self, question: Sequence[str]) -> list[str]:
        """Return the lines, in their order, that a question needs. question: what it asserts."""
        chosen = set(self._always)
        todo = [name for line in question for name in _SYMBOL.findall(line)]
        todo += [name for number in chosen for name in self._names[number]]
        met = set()
        while todo:
            name = todo.pop()
            if name in met:
                continue
            met.add(name)
            for number in self._of_name.get(name, ()):
                chosen.add(number)
                todo += self._names[number]
        return [self._lines[number] for number in sorted(chosen)]
