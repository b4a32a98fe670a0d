"""kafka.server.ReplicaFetcherThread, compared with the model's truncation for every pair of small logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement

from elrcheck.kafka.broker_steps import AskTruncation, Truncated
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, Outcome
from elrcheck.kafka.conformance.question_space import Space
from elrcheck.kafka.kafka_oracle import FollowerOracle
from elrcheck.kafka.partition_questions import Ids
from elrcheck.model.broker.logs import cut_at, fetch_diverges
from elrcheck.model.config import Config
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, Broker, Entry

LONGEST_LOG, EPOCHS = 4, 3
LOGS = tuple(
    log for size in range(LONGEST_LOG + 1) for log in combinations_with_replacement(range(1, EPOCHS + 1), size)
)
"""Every log whose epochs do not fall."""


@dataclass(frozen=True)
class FollowerDisagreement:
    """The log end offsets of the follower after it has truncated, in Kafka and in the model."""

    question: AskTruncation
    kafka: Truncated
    model: Truncated

    @property
    def known_class(self) -> None:
        """No difference is explained."""
        return None

    @property
    def request(self) -> str:
        return "Fetch" if self.question.by_fetch else "OffsetsForLeaderEpoch"

    @property
    def signature(self) -> str:
        return f"{self.request}: log_end"

    @property
    def rank(self) -> tuple[int, ...]:
        return (len(self.question.leader) + len(self.question.follower),)


class FollowerPart(KafkaPart[AskTruncation, Truncated]):
    """One response of a leader to a follower."""

    name = "follower"
    kafka = "kafka.server.ReplicaFetcherThread"

    def expect(self, config: Config, question: AskTruncation) -> Truncated:
        return truncated(config, question)

    def ask(self, oracle: FollowerOracle, questions: Sequence[AskTruncation]) -> Sequence[Truncated]:
        return oracle.truncations(questions)

    def compare(
        self, config: Config, question: AskTruncation, answer: Truncated, expected: Truncated
    ) -> Iterator[Outcome]:
        yield Agreement.SAME if answer == expected else FollowerDisagreement(question, answer, expected)

    def smaller(self, disagreement: FollowerDisagreement) -> Iterator[AskTruncation]:
        """Return the question with one record less."""
        q = disagreement.question
        for shorter in _shorter(q.leader):
            yield AskTruncation(shorter, q.leader_epoch, q.follower, q.by_fetch)
        for shorter in filter(None, _shorter(q.follower)):
            yield AskTruncation(q.leader, q.leader_epoch, shorter, q.by_fetch)


FOLLOWER = FollowerPart()


def truncated(config: Config, question: AskTruncation) -> Truncated:
    """Return the model's answer: by either request a follower truncates to the same offset."""
    c = replace(config, broker_count=2, spare_brokers=0, log_slots=LONGEST_LOG, records=LONGEST_LOG)
    empty = Init(c).broker[0]
    leader = _with_log(replace(empty, view=replace(empty.view, leader_epoch=question.leader_epoch)), question.leader)
    follower = _with_log(empty, question.follower)
    end = len(follower.log)
    return Truncated(min(cut_at(c, leader, follower), end) if fetch_diverges(c, leader, follower) else end)


@lru_cache(maxsize=1)
def follower_spaces() -> tuple[Space[AskTruncation], ...]:
    """Return the one finite set of questions: every pair of logs, with either request."""
    name = f"logs of up to {LONGEST_LOG} records in {EPOCHS} epochs, of a leader and a follower"
    followers = tuple(filter(None, LOGS))
    return (Space(name, (LOGS, followers, (True, False)), _question),)


def _question(leader: Ids, follower: Ids, by_fetch: bool) -> AskTruncation:
    return AskTruncation(leader, EPOCHS + 1, follower, by_fetch)


def _with_log(broker: Broker, epochs: Ids) -> Broker:
    log = tuple(Entry(id=place, epoch=epoch, acks=Acks.ALL) for place, epoch in enumerate(epochs, start=1))
    return replace(broker, log=log)


def _shorter(log: Ids) -> Iterator[Ids]:
    return ((*log[:at], *log[at + 1 :]) for at in range(len(log)))
