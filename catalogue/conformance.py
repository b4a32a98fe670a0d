"""What was compared with which release of Kafka: a file that `elrcheck conform --record` writes.

`list variants` and `show VARIANT` say what the packaged one holds. Nothing in it is typed by hand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.resources import files
from typing import Literal, TypeAlias

from elrcheck.base.package_files import files_of
from elrcheck.base.roundtrip import Record, from_text

NAME = "conformance.json"
SCHEMA = "elrcheck.conformance/1"
Side: TypeAlias = Literal["controller", "broker"]
SIDES: tuple[Side, ...] = ("controller", "broker")


class Explained(Record, frozen=True):
    """A class of differences that is known, and how often it occurred."""

    id: str
    count: int
    what: str


class Compared(Record, frozen=True):
    """One release of Kafka, compared with a variant on a day. model: digest of its source then.

    side: which of Kafka's classes were asked, those of the controller or kafka.cluster.Partition of a broker.
    """

    kafka: str
    variant: str
    day: str
    compared: int
    builder: int
    controller: int
    isr_order: int
    not_held: int
    unexplained: int
    explained: tuple[Explained, ...]
    seed: int
    model: str
    side: Side = "controller"

    @property
    def place(self) -> tuple[int, tuple[int, ...], str]:
        """Order of the file: the controllers first, by release, then by variant."""
        release = self.kafka.split("-")[0].split(".")
        return SIDES.index(self.side), tuple(int(part) for part in release if part.isdigit()), self.variant

    @property
    def name(self) -> str:
        """The release, and the broker's side where it is that."""
        return self.kafka if self.side == "controller" else f"{self.kafka}, {self.side}"

    def __str__(self) -> str:
        told = ", ".join(f"{known.id} {known.count}" for known in self.explained)
        again = "" if self.model == model_digest() else "; the model's source has changed since"
        return (
            f"{self.compared:,} answers on {self.day}, {self.unexplained:,} differ without an explanation"
            f" (explained: {told or 'none'}){again}"
        )


class Conformance(Record, frozen=True):
    """The whole file."""

    schema: str = SCHEMA
    comparisons: tuple[Compared, ...] = ()

    def plus(self, more: Iterable[Compared]) -> Conformance:
        """With these comparisons instead of earlier ones of the same release, variant and side."""
        kept = {found.place: found for found in self.comparisons}
        kept.update({found.place: found for found in more})
        return Conformance(SCHEMA, tuple(kept[place] for place in sorted(kept)))


def packaged() -> Conformance:
    """The comparisons that this version of elrcheck was released with."""
    return from_text((files("elrcheck.catalogue") / NAME).read_bytes(), Conformance)


def compared_with(variant: str) -> tuple[Compared, ...]:
    """The comparisons of a variant."""
    return tuple(found for found in packaged().comparisons if found.variant == variant)


def model_digest() -> str:
    """Changes with the source of the model."""
    total = hashlib.sha256()
    for path, file in files_of("model"):
        total.update(f"{path}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()[:16]

