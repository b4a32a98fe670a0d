"""What clients of a partition lose where a property of Kafka's model fails, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

READ = "Consumers have read a record that is gone, or read another one at its offset."
ELECTED = "The next election may choose a broker that lacks acknowledged records; its followers truncate to it."
COPIES = "An acknowledged record is on fewer brokers than min.insync.replicas promises, and may be lost with them."
LEADERLESS = "The partition accepts no reads and writes, although a broker that could lead is up."
CLUSTER = "Brokers and clients act on a state of the partition that the controller does not have."

AT_STAKE: Mapping[str, str] = {
    "P-1": "Acknowledged records are lost: the leader lacks them, and its followers truncate to it.",
    "P-2": ELECTED,
    "P-3": "A record may be acknowledged without a copy on the broker that is elected next.",
    "P-3b": "A record may be acknowledged without a copy on the broker that is elected next.",
    "P-4": READ,
    "P-5": "Replicas hold different records at one offset, and which of them consumers read depends on the leader.",
    "P-6": READ,
    "P-7": "Consumers may have read records beyond the high watermark, and find none there now.",
    "P-7b": "Consumers may ask for records that the log does not have.",
    "P-8": "Acknowledged records are lost: no replica has them any more.",
    "P-9": "The partition forgets brokers that hold every record, and may stay without a leader.",
    "P-10": ELECTED,
    "P-11": ELECTED,
    "P-12": "A broker that is no replica of the partition counts as one that may lead it.",
    "P-13": ELECTED,
    "P-14": "A broker that may have lost its log counts as complete, and may lead.",
    "P-15": "A recovery may choose among the wrong brokers.",
    "P-16": "A recovery may no longer find the broker with the longest log.",
    "P-17": "A broker leads that is not known to hold every acknowledged record.",
    "P-18": LEADERLESS,
    "P-19": "A broker that does not answer counts as in sync, so that writes wait for it or an election chooses it.",
    "P-20": LEADERLESS,
    "P-21": "A stale request or fetch may be accepted as current.",
    "P-22": "Two brokers accept writes at once, and the records of one of them are lost.",
    "P-23": CLUSTER,
    "P-24": CLUSTER,
    "P-25": COPIES,
    "P-26": "A replica deletes an acknowledged record that it held.",
    "P-27": "A broker joins the ISR without every acknowledged record, and may be elected.",
    "P-28": "Clients are not told that the leader may lack acknowledged records.",
    "P-29": COPIES,
    "P-30": COPIES,
    "P-31": "A recovery elects a shorter log than it could have, and records are lost that a broker still had.",
    "P-32": READ,
    "P-33": "A producer believes safe a record that no consumer is sure to read.",
    "P-34": "Acknowledged records are lost: the leader lacks them, and its followers truncate to it.",
    "P-35": "Producers with acks=all wait, although enough replicas have the record.",
    "P-36": "A broker stops while others still take it for the leader, so clients are interrupted.",
    "P-37": "An election that may lose data chooses another broker than the last leader.",
}
"""By the id of the property."""
