"""`elrcheck conform --keep-answers FILE`: put the questions of a comparison to a release, and write the answers."""

from __future__ import annotations

import datetime
from pathlib import Path

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Progress
from elrcheck.kafka.answer_file import write_answers
from elrcheck.kafka.conformance.block import ask_block
from elrcheck.kafka.conformance.comparison import Team
from elrcheck.kafka.conformance.plan import plan
from elrcheck.kafka.conformance.sides import SIDES, side_of
from elrcheck.kafka.kafka_oracle import Pairs


def keep_answers(request: ConformRequest, teams: list[Team], path: Path, progress: Progress) -> int:
    """Ask one release and write the file; return the number of questions."""
    sources = [source for team in teams for source in team.sources]
    if len(sources) != 1 or request.overrides:
        raise UsageFault(
            "usage-option",
            "--keep-answers takes one release and no --set: a file has the answers of one",
            help="run it once for each --kafka",
        )
    progress.stage(f"asking Kafka's classes of {sources[0].removeprefix('home:')}")
    pairs: Pairs = []
    version = _ask(request, teams[0], sources[0], pairs)
    if not pairs:
        raise NothingChecked("no-answers", "no question of this kind can be put to this release")
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    write_answers(path, version, side_of(request), day, pairs)
    return len(pairs)


def _ask(request: ConformRequest, team: Team, source: str, pairs: Pairs) -> str:
    """Ask the questions of a comparison whose answers go to files; return the version."""
    with SIDES[side_of(request)].open(source, pairs) as oracle:
        for block in plan(request.comparisons, request.level, team.config.elr_enabled):
            if block.part.in_files:
                ask_block(team.config, request.seed, block, [oracle])
            if request.level == "broker" and len(pairs) >= request.comparisons:
                break
        return oracle.version
