"""Models that use one part of the language each, for the tests that compare its readings."""

from __future__ import annotations

RING = """
Slot = Annotated[int, nat("Slot", hi=6)]
Node = Annotated[int, sort("Node", "size", ordered=True)]
Index = Annotated[int, nat("Index", cap=30)]
@config
class C:
    size: int = 3
    slots: int = 7
@state
class S:
    head: Slot
    written: Index
    at: Node
@init
def Init(c: C) -> S:
    return S(head=0, written=0, at=0)
@action
def Write(c: C, s: S) -> S:
    require(s.written - s.head // 2 < 20, "there is room")
    return replace(s, head=(s.head + 5) % c.slots, written=s.written + 1, at=(s.at + 2) % c.size)
@action
def Read(c: C, s: S, n: Node) -> S:
    require((s.written // c.size) % 2 == 1 and n == (s.at + s.written) % c.size, "the round is odd")
    return replace(s, at=(n - 1) % c.size)
"""


OPTIONAL = """
Node = Annotated[int, sort("Node", "nodes")]
Delta = Annotated[int, nat("Delta", lo=-1, hi=1)]
@config
class C:
    nodes: int = 2
@record
class Message:
    sender: Node
    to: Node | None
    delta: Delta
@record
class Channel:
    first: Message | None
    flag: bool | None
@state
class S:
    channel: Channel
    mail: Annotated[tuple[Message | None, ...], Per(Node)]
    sent: frozenset[Message]
    votes: frozenset[Node] | None
    delta: Delta | None
    log: Annotated[tuple[Message | None, ...], SeqMark(2)]
@init
def Init(c: C) -> S:
    mail = tuple(None for n in range(c.nodes))
    return S(channel=Channel(first=None, flag=None), mail=mail, sent=EMPTY, votes=None, delta=None, log=())
@op
def of(m: Message | None) -> int:
    match m:
        case None:
            return 7
        case Message(to=None):
            return 8
        case Message(delta=d):
            return d
@op
def answer(m: Message) -> Message | None:
    return None if m.to is None else replace(m, delta=0 - m.delta)
@action
def Send(c: C, s: S, n: Node, to: Node | None, delta: Delta | None) -> S:
    require(s.mail[n] is None and delta is not None and s.delta != delta, "n has sent nothing")
    message = Message(sender=n, to=to, delta=delta)
    require(len(s.log) < 2 and message not in s.sent and (to is None or to != n), "it is new")
    log = (*s.log, s.channel.first)
    return replace(s, mail=put(s.mail, n, message), sent=s.sent | {message}, delta=delta, log=log)
@action
def Take(c: C, s: S, m: Message | None) -> S:
    require(any(s.mail[n] == m for n in range(c.nodes)) and m is not None and s.channel.first is None, "m is there")
    mail = tuple(None if s.mail[n] == m else s.mail[n] for n in range(c.nodes))
    votes = frozenset({m.sender}) if s.votes is None else s.votes | {m.sender}
    return replace(s, mail=mail, channel=Channel(first=answer(m), flag=m.to == 0), votes=votes)
"""


PAIRS = """
Node = Annotated[int, sort("Node", "nodes")]
Round = Annotated[int, nat("Round", hi=2)]
Ballot = tuple[Round, Node]
class Mode(enum.Enum):
    IDLE = 1
    BUSY = 2
@config
class C:
    nodes: int = 2
@state
class S:
    best: Ballot
    seen: frozenset[Ballot]
    last: tuple[Node, Mode, bool] | None
    per: Annotated[tuple[Ballot, ...], Per(Node)]
    log: Annotated[tuple[Ballot, ...], SeqMark(2)]
@init
def Init(c: C) -> S:
    return S(best=(0, 0), seen=EMPTY, last=None, per=tuple((1, n) for n in range(c.nodes)), log=())
@op
def above(a: Ballot, b: Ballot) -> bool:
    (r, n), m = a, b[1]
    return r > b[0] or (r == b[0] and n != m)
@op
def kind(a: Ballot, mode: Mode) -> int:
    match a, mode:
        case (0, _), Mode.IDLE:
            return 1
        case (r, 1), _ if r > 0:
            return r + 5
        case _:
            return 0
@op
def all_pairs(c: C, s: S) -> frozenset[Ballot]:
    return frozenset((r + 1, n) for r, _ in s.seen for n in range(c.nodes) if r < 2)
@action
def See(c: C, s: S, b: Ballot) -> S:
    require(above(b, s.best) and len(s.log) < 2, "it is higher")
    r, n = b
    return replace(s, best=b, seen=s.seen | {(r, n)}, log=(*s.log, s.best), per=put(s.per, n, (r, s.best[1])))
@action
def Note(c: C, s: S, n: Node, what: tuple[Mode, bool]) -> S:
    require(s.last is None and (s.best[0], n) in s.seen, "nothing is noted")
    return replace(s, last=(n, what[0], what[1]))
"""

SLICES = """
Node = Annotated[int, sort("Node", "nodes")]
At = Annotated[int, nat("At", lo=-4, hi=4)]
Few = Annotated[int, nat("Few", hi=2)]
Queue = Annotated[tuple[Node, ...], SeqMark(3)]
@config
class C:
    nodes: int = 2
@state
class S:
    queue: Queue
    at: At
    few: Few | None
@init
def Init(c: C, at: At) -> S:
    return S(queue=(), at=at, few=None)
@op
def narrow(s: S) -> Few:
    return s.at
@op
def first(queue: Queue, n: Few) -> Queue:
    return queue[:n]
@op
def rest(queue: Queue) -> Queue:
    same = queue
    return same[1:]
@op
def longer(s: S, n: Node) -> Queue:
    return s.queue + (n,)
@action
def Slide(c: C, s: S, n: Node) -> S:
    require(s.at > 1, "it is the rule")
    longer = s.queue + (n,)
    return replace(s, queue=longer[1:], few=len(longer[3:]))
@op
def last_of_more(s: S) -> Node:
    more = (*s.queue, 1)
    return more[len(more) - 1]
@action
def Push(c: C, s: S, n: Node) -> S:
    require(len(s.queue) < 3, "there is room")
    return replace(s, queue=(*s.queue, n), few=s.at if 0 <= s.at and s.at < 3 else s.few)
"""

NUMBERS = """
Offset = Annotated[int, nat("Offset", lo=-2, hi=3)]
Year = Annotated[int, nat("Year", lo=4, hi="last")]
Debt = Annotated[int, nat("Debt", lo=-9, cap=9)]
Node = Annotated[int, sort("Node", "nodes")]
class Mode(enum.Enum):
    IDLE = 1
    BUSY = 2
    DONE = 3
@config
class C:
    nodes: int = 2
    last: int = 5
@record
class Bid:
    who: Node
    offset: Offset
@state
class S:
    offset: Offset
    debt: Debt
    years: frozenset[Year]
    bids: frozenset[Bid]
    log: Annotated[tuple[Year, ...], SeqMark(2)]
    mode: Annotated[tuple[Mode, ...], Per(Node)]
@init
def Init(c: C) -> S:
    return S(offset=-1, debt=0, years=EMPTY, bids=EMPTY, log=(), mode=tuple(Mode.IDLE for n in range(c.nodes)))
@op
def weight(mode: Mode, year: Year | None) -> int:
    match mode:
        case Mode.IDLE | Mode.BUSY if year is None:
            return -1
        case Mode.IDLE:
            return 0
        case Mode.BUSY:
            weighed = 2
        case _:
            weighed = 3
    return weighed
@op
def next_years(years: frozenset[Year]) -> frozenset[Year]:
    return frozenset(y + 1 for y in years if y < 5)
@op
def value(b: Bid) -> int:
    match b:
        case Bid(who=0, offset=-2 | -1 as low):
            return low
        case Bid(who=0):
            return 10
        case Bid(offset=other):
            return other + 20
@action
def Move(c: C, s: S, by: Offset, n: Node) -> S:
    require(by in (-2, 3) and -2 <= s.offset + by <= 3, "inside")
    require(len(s.bids) < 3, "few bids")
    bid = Bid(who=n, offset=by)
    return replace(s, offset=s.offset + by, debt=s.debt - by, bids=s.bids | {bid}, mode=put(s.mode, n, Mode.BUSY))
@action
def Mark(c: C, s: S, y: Year) -> S:
    require(len(s.log) < 2 and s.offset < 0, "there is room")
    return replace(s, years=s.years | {y}, log=(*s.log, y), mode=put(s.mode, 0, Mode.DONE))
"""
MAPS = """
Node = Annotated[int, sort("Node", "nodes")]
Round = Annotated[int, nat("Round", lo=1, hi="rounds")]
Count = Annotated[int, nat("Count", hi=3)]
class Mode(enum.Enum):
    IDLE = 1
    BUSY = 2
    DONE = 3
@record
class Vote:
    who: Node
    round: Round
@config
class C:
    nodes: int = 2
    rounds: int = 2
@state
class S:
    count: Map[Mode, Count]
    best: Map[Round, Node | None]
    lock: Map[tuple[Node, Node], bool]
    seen: Map[Vote, frozenset[Mode]]
    last: Vote
    mode: Mode
@init
def Init(c: C) -> S:
    return S(
        count=Map({k: 0 for k in Mode}),
        best=Map({r: None for r in every(c, Round)}),
        lock=Map({(a, b): a == b for a, b in every(c, tuple[Node, Node])}),
        seen=Map({v: EMPTY for v in every(c, Vote)}),
        last=Vote(who=0, round=1),
        mode=Mode.IDLE,
    )
@op
def locked(c: C) -> Map[Mode, Count]:
    return Map({k: 1 if k == Mode.DONE else 0 for k in Mode})
@op
def next_mode(m: Mode) -> Mode:
    return Mode.BUSY if m == Mode.IDLE else Mode.DONE
@action
def Go(c: C, s: S, m: Mode) -> S:
    require(s.mode != Mode.DONE and m != Mode.IDLE and s.count[s.mode] < 2, "there is room")
    return replace(s, count=put(s.count, s.mode, s.count[m] + 1), mode=next_mode(m))
@action
def Take(c: C, s: S, v: Vote) -> S:
    require(s.best[v.round] is None and s.best[s.last.round] != v.who, "the round is open")
    seen = put(put(s.seen, v, s.seen[s.last] | {s.mode}), s.last, frozenset({Mode.DONE}))
    return replace(s, best=put(s.best, v.round, v.who), last=v, seen=seen)
@action
def Lock(c: C, s: S, a: Node) -> S:
    require(not s.lock[(a, s.last.who)], "it is free")
    return replace(s, lock=put(s.lock, (a, s.last.who), True), count=put(s.count, Mode.DONE, s.last.round))
"""
BAGS = """
Node = Annotated[int, sort("Node", "nodes")]
Copies = Annotated[int, nat("Copies", hi=2)]
class Kind(enum.Enum):
    ASK = 1
    OK = 2
@record
class Message:
    kind: Kind
    to: Node
Net = Map[Message, Copies]
@config
class C:
    nodes: int = 2
@state
class S:
    net: Net
    got: Map[Kind, Copies]
    last: Message | None
@init
def Init(c: C) -> S:
    return S(net=Map({m: 0 for m in every(c, Message)}), got=Map({k: 0 for k in Kind}), last=None)
@op
def waiting(c: C, s: S, n: Node) -> frozenset[Message]:
    return frozenset(m for m in contents(s.net) if m.to == n)
@action
def Send(c: C, s: S, n: Node) -> S:
    ask = Message(kind=Kind.ASK, to=n)
    require(s.net[ask] < 2 and s.got[Kind.OK] == 0, "there is room")
    return replace(s, net=add(s.net, ask))
@action
def Answer(c: C, s: S, m: Message, to: Node) -> S:
    require(m in contents(s.net) and m.kind == Kind.ASK, "m arrives")
    answer = Message(kind=Kind.OK, to=to)
    require(s.net[answer] < 2 and s.got[m.kind] < 2, "there is room")
    return replace(s, net=add(remove(s.net, m), answer), got=add(s.got, m.kind), last=m)
@action
def Drop(c: C, s: S) -> S:
    require(s.last is not None and s.net[s.last] > 0 and s.got[Kind.OK] < 2, "one like the last")
    return replace(s, net=remove(s.net, s.last), got=add(s.got, Kind.OK))
"""
QUORUMS = """
Node = Annotated[int, sort("Node", "nodes")]
class Mode(enum.Enum):
    IDLE = 1
    BUSY = 2
@config
class C:
    nodes: int = 3
@state
class S:
    votes: frozenset[Node]
    chosen: frozenset[frozenset[Node]]
    mode: Mode
@init
def Init(c: C) -> S:
    return S(votes=EMPTY, chosen=EMPTY, mode=Mode.IDLE)
@op
def quorums(c: C) -> frozenset[frozenset[Node]]:
    return frozenset(q for q in every(c, frozenset[Node]) if len(q) + len(q) > c.nodes)
@action
def Vote(c: C, s: S, n: Node) -> S:
    require(n not in s.votes and len(s.chosen) < 2, "n has no vote")
    return replace(s, votes=s.votes | {n})
@action
def Choose(c: C, s: S, q: frozenset[Node]) -> S:
    require(q in quorums(c) and q <= s.votes and len(s.chosen) < 2, "q has voted")
    return replace(s, chosen=s.chosen | {q}, mode=Mode.BUSY, votes=s.votes - q)
"""
