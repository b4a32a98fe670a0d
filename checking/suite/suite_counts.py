"""The exact counts of the suites that come with a model: a file that `elrcheck suite --record` writes.

Counts reveal a change of the model that breaks no property: a configuration has more or fewer states or steps than
recorded, or random walks through one too large to search have another digest. After an intended change of the model,
record the counts again; the difference is part of the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.common_options import ModelSource
from elrcheck.base.errors import UsageFault
from elrcheck.base.roundtrip import Record, from_text, to_text
from elrcheck.base.run_lock import in_turn
from elrcheck.declared.declared_model import suites_of
from elrcheck.explorer.search.result import size_words

SCHEMA = "elrcheck.suite-counts/1"


class CaseCounts(Record, frozen=True, omit_defaults=True):
    """The size of a complete search of a configuration. diameter: number of levels.

    Of walks: the possible steps, the distinct states, the steps of the longest walk, and the digest (`WalkDigest`).
    """

    generated: int
    distinct: int
    diameter: int
    digest: str | None = None

    def __str__(self) -> str:
        if self.digest is not None:
            size = f"{self.generated:,} possible steps in {self.distinct:,} states"
            return f"{size}, walks of {self.diameter} steps, digest {self.digest}"
        return size_words(self.generated, self.distinct, self.diameter)


class SuiteCounts(Record, frozen=True):
    """The counts of configurations, by `family/name`."""

    configurations: dict[str, CaseCounts]
    schema: str = SCHEMA


def packaged_counts(source: ModelSource = None) -> Mapping[str, CaseCounts] | None:
    """Return the recorded counts of the suites that come with a model; None if none were recorded."""
    counts = suites_of(source).counts
    return None if counts is None else read_counts(counts)


def read_counts(file: Path | Traversable) -> Mapping[str, CaseCounts]:
    """Read a file of counts; raise UsageFault if `elrcheck suite --record` did not write it."""
    try:
        record = from_text(file.read_text(encoding="utf-8"), SuiteCounts)
    except (OSError, ValueError) as fault:
        raise _no_record(file, str(fault)) from fault
    if record.schema != SCHEMA:
        raise _no_record(file, f"the schema is {record.schema}")
    return record.configurations


def record_counts(file: Path, counts: Mapping[str, CaseCounts]) -> None:
    """Write these counts to the file, in place of those of the same configurations."""
    with in_turn(file.parent):
        before = read_counts(file) if file.exists() else {}
        merged = {**before, **counts}
        write_file(file, _text({name: merged[name] for name in sorted(merged)}))


def _text(counts: Mapping[str, CaseCounts]) -> str:
    """Return the text of the file: one configuration per line, so that diffs are short."""
    lines = ",\n".join(f'  "{name}": {to_text(one)}' for name, one in counts.items())
    return f'{{"schema": "{SCHEMA}", "configurations": {{\n{lines}\n}}}}\n'


def _no_record(file: Path | Traversable, why: str) -> UsageFault:
    return UsageFault(
        "usage-record",
        f"{file} is not a record of counts: {why}",
        help="give a file that `elrcheck suite --record` wrote, or a new one",
    )
