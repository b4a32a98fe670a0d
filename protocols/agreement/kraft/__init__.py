"""KRaft: the quorum of Kafka's controllers elects a leader for an epoch, and fetches its log; voters come and go.

Source: KIP-595 (fetching), KIP-996 (pre-vote) and KIP-853 (voters added and removed); where they differ, the classes of
Kafka 4.3.1, which actions name. J. Vanlightly's kraft_kip_996.tla and kraft_kip_853.tla describe it with a bag of
messages, for simulation: no counts are published. With three voters and one election: 124,908 distinct states, 715,365
generated, diameter 26; with `two-elections` 4,299,419, 24,710,317 and 39.

Here the last request of a server for votes, and its last fetch, are on their way until it sends another one: each may
arrive late, again, or never. An answer arrives at once or never: Kafka drops it once its receiver has left the epoch,
and until then the receiver does nothing that an earlier answer would change. Who leads an epoch, or that an epoch has
begun, may be heard of at any time. Records of clients are all alike; each entry says which voters are in force behind
it, so that a VotersRecord is an entry with other voters than the one before. Snapshots, unflushed logs, and
EndQuorumEpoch, which only hastens an election, are not modelled.
"""

from __future__ import annotations

from elrcheck.lang.load import ProtocolModel

from . import elections, leading, properties, state

MODEL = ProtocolModel(
    state.State,
    state.Config,
    modules=(state, elections, leading, properties),
    variants={
        "no-pre-vote": {"pre_vote": False, "stands_again": False},
        "eager-change": {"waits": False},
        "KAFKA-16530": {"counts_voters": False},
        "follows-again": {"stands_again": False},
    },
    scopes={
        "two-elections": {"led": False},
        "restart": {"restarts": 1},
        "cut-off": {"cuts": 1},
        "change": {"voters": 2, "changes": 2, "longest": 3},
        "four-voters": {"servers": 4, "voters": 4, "changes": 2, "last_epoch": 3, "longest": 3},
    },
)
