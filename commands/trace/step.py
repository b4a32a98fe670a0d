"""`elrcheck trace step`: walk through a scope by hand, choosing enabled actions from a menu.

    0..n      take the action with this number      u         undo
    j N       jump back or forward to state N       s FILE    save the trace
    p         print the leaves of the state         ?         this help
    q         quit (as does the end of input)

On a terminal a mistake prints an error, and the menu continues; in a pipe it ends the run, because the remaining
commands were meant for another state.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from elrcheck.base.errors import ElrError, UsageFault
from elrcheck.lang.plain import Label
from elrcheck.report.plain_words import several
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour
from elrcheck.traces.describe import changes, leaves, spelled
from elrcheck.traces.replay import Replayed
from elrcheck.traces.truth import violations

HELP = "0, 1, ..: take that action   u: undo   j N: to state N   p: print the state   s FILE: save   ?: help   q: quit"


@dataclass
class SteppedTrace:
    """A trace in progress. ahead: undone steps that `j` can redo, until another step is taken."""

    subject: Replayed
    write: Callable[[str], None]
    ahead: list[tuple[Any, Label, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plain = self.subject.plain
        self.states = list(self.subject.states)
        self.labels = list(self.subject.labels)
        self.indices = list(self.subject.indices)
        self.actions = self.subject.model.actions_by_name
        self.choices: list[tuple[Label, Any]] = []

    def show(self) -> None:
        """Print the last step, the properties that the state violates, and the menu."""
        number = len(self.labels)
        self.write(f"\nstate {number}" + (f"  {repro}" if (repro := self._repro) else "") + "\n")
        if number:
            self.write(f"  {self._call(self.labels[-1])}\n")
            for change in changes(self.states[-2], self.states[-1], self.subject.model.state_ty):
                self.write(f"    {change.path}: {change.old} -> {change.new}\n")
        for hit in violations(self.plain, self.states):
            if hit.step == number:
                why = " ".join(filter(None, (hit.conjunct, hit.witness)))
                self.write(f"  VIOLATED {hit.id} {hit.name}{': ' + why if why else ''}\n")
        self.choices = list(self.plain.successors(self.states[-1]))
        for index, (label, after) in enumerate(self.choices):
            beyond = "" if self.plain.within(after) else "  (beyond the budgets)"
            self.write(f"  {index:>3}  {self._call(label)}{beyond}\n")
        if not self.choices:
            self.write("  no action is enabled\n")

    @property
    def _repro(self) -> str:
        """The option that repeats the steps; empty without a step, or from another start."""
        starts_there = self.states[0] == self.plain.initial()
        return f"--repro {'/'.join(map(str, self.indices))}" if self.indices and starts_there else ""

    def _call(self, label: Label) -> str:
        return spelled(self.actions[label.action], label.args)

    def print_state(self) -> None:
        for path, value in leaves(self.states[-1], self.subject.model.state_ty):
            self.write(f"  {path} = {value}\n")

    def obey(self, line: str) -> bool:
        """Execute one command line; return False to quit. Raise UsageFault for an invalid command."""
        word, _, rest = line.strip().partition(" ")
        rest = rest.strip()
        match word:
            case "":
                return True
            case "q" | "quit":
                return False
            case "?" | "h" | "help":
                self.write(HELP + "\n")
            case "p" | "print":
                self.print_state()
            case "u" | "undo":
                self.jump(len(self.labels) - 1)
            case "j" | "jump":
                self.jump(_number(rest, "a state"))
            case "s" | "save":
                self.save(rest)
            case _:
                self.take(_number(word, "a number from the menu"))
        return True

    def take(self, index: int) -> None:
        if index >= len(self.choices):
            raise UsageFault("step-menu", f"there is no action {index}; the menu has {len(self.choices)}")
        label, after = self.choices[index]
        self._append(after, label, index)
        self.ahead.clear()
        self.show()

    def jump(self, number: int) -> None:
        most = len(self.labels) + len(self.ahead)
        if not 0 <= number <= most:
            raise UsageFault("step-jump", f"there is no state {number}; the states are 0 to {most}")
        while len(self.labels) > number:
            self.ahead.append((self.states.pop(), self.labels.pop(), self.indices.pop()))
        while len(self.labels) < number:
            self._append(*self.ahead.pop())
        self.show()

    def save(self, name: str) -> None:
        if not name:
            raise UsageFault("step-save", "missing file name", help="s FILE")
        path = Path(os.path.expanduser(name))  # unlike that of a Path, leaves a user without a folder as it is
        model = self.subject.behaviour.origin.model
        if model is not None and os.path.realpath(path) == os.path.realpath(model):
            raise UsageFault("step-save", f"{path} is the model", help="s FILE, another one")
        write_trace(path, self.reached.followed, self.subject.model.state_ty)
        self.write(f"saved {several(len(self.labels), 'step')} in {path}\n")

    def _append(self, after: Any, label: Label, index: int) -> None:
        self.states.append(after)
        self.labels.append(label)
        self.indices.append(index)

    @property
    def reached(self) -> Replayed:
        """Return the trace so far, with the first property that it violates."""
        hits = [hit.id for hit in violations(self.plain, self.states)]
        origin, subject = self.subject.behaviour.origin, self.subject
        origin = replace(origin, property=hits[0] if hits else "", source=self._repro, form=None)
        behaviour = Behaviour(origin, tuple(self.states), tuple(self.labels))
        return Replayed(subject.model, subject.config, behaviour, behaviour.labels)


def step(subject: Replayed, read: Callable[[], str | None], write: Callable[[str], None], patient: bool) -> Replayed:
    """Execute commands until the input ends, and return the trace. patient: report mistakes and continue."""
    walk = SteppedTrace(subject, write)
    write(HELP + "\n")
    walk.show()
    while (line := read()) is not None:
        try:
            if not walk.obey(line):
                break
        except ElrError as fault:
            if not patient:
                raise
            write(fault.render() + "\n")
    return walk.reached


def _number(text: str, what: str) -> int:
    if not text.isdecimal() or len(text) > 6:
        raise UsageFault("step-command", f"`{text}` is not {what}", help=HELP)
    return int(text)
