"""What can be asked of Kafka's classes, whoever answers.

    with open_oracle(class_path) as oracle:
        answers = oracle.builder(questions)

Questions are answered in batches, each in its place. `walks` starts every walk from its own setup and answers
each of its steps; `steps` is for walks of one step. A setup that Kafka's classes cannot take is a mistake of
the caller and raises ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from elrcheck.kafka.asked import BuilderAnswer, BuilderQuestion, ReassignmentAnswer, ReassignmentQuestion
from elrcheck.kafka.controller_steps import Setup, Step, StepAnswer

Walk: TypeAlias = tuple[Setup, Sequence[Step]]


class Oracle(Protocol):
    """Kafka's classes of one version."""

    @property
    def version(self) -> str:
        """The version of Kafka that answers, as its jars report it."""
        ...

    def builder(self, questions: Sequence[BuilderQuestion]) -> list[BuilderAnswer]:
        """Ask PartitionChangeBuilder."""
        ...

    def reassignments(self, questions: Sequence[ReassignmentQuestion]) -> list[ReassignmentAnswer]:
        """Ask PartitionReassignmentReplicas and PartitionReassignmentRevert."""
        ...

    def walks(self, walks: Sequence[Walk]) -> list[list[StepAnswer]]:
        """Ask the controller's managers; the answers of a walk are as many as its steps."""
        ...

    def steps(self, steps: Sequence[tuple[Setup, Step]]) -> list[StepAnswer]:
        """Ask the controller's managers for single steps."""
        ...
