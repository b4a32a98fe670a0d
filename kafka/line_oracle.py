"""What an oracle asks in lines, and how questions and answers are kept as they pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias


class Answering(Protocol):
    """What an oracle asks in lines: a Java process, or one whose answers are kept."""

    def greeting(self) -> str:
        """Return the first line."""
        ...

    def ask(self, questions: Sequence[bytes]) -> list[bytes]:
        """Return an answer to each line."""
        ...


Pairs: TypeAlias = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Keeping:
    """Passes questions on, and adds them with their answers to `pairs`."""

    process: Answering
    pairs: Pairs

    def greeting(self) -> str:
        return self.process.greeting()

    def ask(self, questions: Sequence[bytes]) -> list[bytes]:
        answers = self.process.ask(questions)
        self.pairs.extend(zip(questions, answers, strict=True))
        return answers
