"""The lines of a certificate that a question's names lead to.

A solver that is given fewer assertions is faster, and what it refutes with them is refuted with all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
