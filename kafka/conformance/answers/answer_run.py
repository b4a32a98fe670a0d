"""`elrcheck conform --keep-answers FILE`: ask a release what a comparison asks, and keep the answers."""

from __future__ import annotations

import datetime
from itertools import islice
from pathlib import Path

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Progress
from elrcheck.kafka.answer_file import write_answers
from elrcheck.kafka.conformance.block import ask_block
from elrcheck.kafka.conformance.broker.broker_conform import BATCH, broker_walks
from elrcheck.kafka.conformance.comparison import Team
from elrcheck.kafka.conformance.kafka_source import class_path_of
from elrcheck.kafka.conformance.plan import plan
from elrcheck.kafka.jars import Jars
from elrcheck.kafka.kafka_oracle import Pairs, open_broker_oracle, open_oracle


def keep_answers(request: ConformRequest, teams: list[Team], path: Path, progress: Progress) -> int:
    """Ask one release and write the file; returns the number of lines."""
    sources = [source for team in teams for source in team.sources]
    if len(sources) != 1 or request.overrides:
        raise UsageFault(
            "usage-option",
            "--keep-answers takes one release and no --set: a file has the answers of one",
            help="run it once for each --kafka",
        )
    progress.stage(f"asking Kafka's classes of {sources[0].removeprefix('home:')}")
    pairs: Pairs = []
    ask = _ask_broker if request.level == "broker" else _ask_controller
    version = ask(request, teams[0], sources[0], pairs)
    if not pairs:
        raise NothingChecked("no-answers", "no question of this kind can be put to this release")
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    write_answers(path, version, "broker" if request.level == "broker" else "controller", day, pairs)
    return len(pairs)


def _ask_controller(request: ConformRequest, team: Team, source: str, pairs: Pairs) -> str:
    blocks = plan(request.comparisons, request.level, team.config.elr_enabled)
    with open_oracle(class_path_of(source), record=pairs) as oracle:
        for block in blocks:
            if block.kind != "ISR order":  # Kafka compared with itself, not with the model
                ask_block(team.config, request.seed, block, [oracle])
        return oracle.version


def _ask_broker(request: ConformRequest, team: Team, source: str, pairs: Pairs) -> str:
    walks = broker_walks(team.config, request.seed)
    with open_broker_oracle(class_path_of(source, Jars.BROKER), record=pairs) as oracle:
        while len(pairs) < request.comparisons:
            oracle.walks(list(islice(walks, BATCH)))
        return oracle.version
