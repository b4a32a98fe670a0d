"""One change of a rule as a task: what to judge it by."""

from __future__ import annotations

from elrcheck.base.roundtrip import Record


class MutantTask(Record, frozen=True):
    """One change to judge. wider: configurations for a change that shows in none of the others; walks: those
    that are walked through, for one that shows in none of these either.

    seconds: limit of each search. controller: also judge by `prove --controller`. answers: first judge by the
    packaged answers of Kafka. proof: put what a property catches to the proof by induction as well.
    """

    function: str
    name: str
    configurations: tuple[str, ...]
    wider: tuple[str, ...]
    walks: tuple[str, ...]
    seconds: float
    controller: bool
    answers: bool = True
    proof: bool = False
