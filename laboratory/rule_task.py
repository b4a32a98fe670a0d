"""The task of judging one change of a rule in a worker process."""

from __future__ import annotations

from elrcheck.base.roundtrip import Record


class MutantTask(Record, frozen=True):
    """One change to judge. wider: configurations for a change that shows in none of `configurations`; walks: those
    for random walks, if it shows in none of these either.

    seconds: limit of each search. controller: also judge by `prove --controller`. answers: first judge by Kafka's
    recorded answers. proof: if a property detects the change, also try the proof by induction.
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
