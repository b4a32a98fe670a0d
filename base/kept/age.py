"""The origin of a stored answer: the time at which it was computed, and the question that it answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime

from elrcheck.base.roundtrip import Record


class KeptOrigin(Record, frozen=True):
    """The origin of a stored answer. when: the time at which it was computed, in UTC (ISO 8601). digest: SHA-256 of
    the question that it answers."""

    when: str
    digest: str

    @property
    def moment(self) -> int:
        """Return the time in seconds since 1970."""
        return int(datetime.fromisoformat(self.when).timestamp())

    @classmethod
    def oldest(cls, parts: Iterable[KeptOrigin | None]) -> KeptOrigin | None:
        """Return the oldest origin among the parts of an answer; None if no part was stored."""
        origins = sorted({(part.when, part.digest) for part in parts if part is not None})
        if len(origins) < 2:
            return cls(*origins[0]) if origins else None
        return cls(origins[0][0], sha("\n".join(digest for _, digest in origins)))


def kept_at(when: int, key: str) -> KeptOrigin:
    """Return the origin of an answer. when: seconds since 1970; key: the question."""
    return KeptOrigin(datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds"), sha(key))


def sha(text: str) -> str:
    """Return the digest of a question."""
    return hashlib.sha256(text.encode()).hexdigest()
