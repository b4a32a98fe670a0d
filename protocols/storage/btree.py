"""A B-tree that looks up, inserts and updates keys, one small step at a time: full nodes are split from the top down.

Source: btree.tla of the TLA+ Examples, by L. Hochstein. With eight nodes of at most two keys, keys 1 to 4 and three
values: 374,727 distinct states, 2,820,091 generated, diameter 38. The manifest of the examples has a depth of 40; one
worker of TLC counts 38, for that module and the one exported from here. Inner nodes below the root are never split,
as there.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.domains import every
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, Map, action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Node = Annotated[int, sort("Node", "nodes", ordered=True)]
Value = Annotated[int, sort("Value", "values")]
Key = Annotated[int, nat("Key", lo=1, hi=4)]
Slot = tuple[Node, Key]


class Step(enum.Enum):
    """The next step."""

    READY = "ready"
    GET_VALUE = "get value"
    FIND_LEAF = "find leaf"
    WHICH_TO_SPLIT = "which to split"
    ADD_TO_LEAF = "add to leaf"
    SPLIT_LEAF = "split leaf"
    SPLIT_INNER = "split inner"
    SPLIT_ROOT_LEAF = "split root leaf"
    SPLIT_ROOT_INNER = "split root inner"
    UPDATE_LEAF = "update leaf"


class Request(enum.Enum):
    NONE = "none"
    GET = "get"
    INSERT = "insert"
    UPDATE = "update"


class Answer(enum.Enum):
    NONE = "none"
    OK = "ok"
    ERROR = "error"
    MISSING = "missing"
    FOUND = "found"


@config
class Config:
    """occupancy: the most keys of a node. moves: a node that is split gives half of its values to the new one."""

    nodes: int = 8
    values: int = 3
    occupancy: int = 2
    moves: bool = True


@state
class State:
    """child: the child of an inner node for what is less than a key. last: the child for the rest. stored: in leaves.

    to_split: full nodes on the way up, the topmost last. key, value: of the latest request; focus: its leaf.
    """

    root: Node
    leaves: frozenset[Node]
    keys: Annotated[tuple[frozenset[Key], ...], Per(Node)]
    child: Map[Slot, Node | None]
    last: Annotated[tuple[Node | None, ...], Per(Node)]
    stored: Map[Slot, Value | None]
    focus: Node | None
    to_split: Annotated[tuple[Node, ...], SeqMark(3)]
    request: Request
    key: Key | None
    value: Value | None
    answer: Answer
    found: Value | None
    step: Step


@op
def is_free(s: State, n: Node) -> bool:
    return n in s.leaves and s.keys[n] == EMPTY


@op
def below(s: State, n: Node, key: Key) -> Node:
    """The child of an inner node on the way to a key; of a leaf, itself."""
    above = min((k for k in s.keys[n] if k > key), default=None)
    if n in s.leaves:
        return n
    return s.last[n] if above is None else s.child[(n, above)]


@op
def leaf_of(s: State, key: Key) -> Node:
    """The leaf in which a key would be. No node is more than three steps below the root."""
    return below(s, below(s, below(s, s.root, key), key), key)


@op
def is_full(c: Config, s: State, n: Node) -> bool:
    return len(s.keys[n]) == c.occupancy


@op
def free_node(c: Config, s: State) -> Node | None:
    return next((n for n in range(c.nodes) if is_free(s, n)), None)


@op
def another_free_node(c: Config, s: State, first: Node) -> Node | None:
    return next((n for n in range(c.nodes) if is_free(s, n) and n != first), None)


@op
def parent(c: Config, s: State, n: Node) -> Node | None:
    return next((p for p in range(c.nodes) if s.last[p] == n or any(s.child[(p, k)] == n for k in every(c, Key))), None)


@op
def pivot_of(keys: frozenset[Key]) -> Key | None:
    """The key in the middle; of an even number, the greater one of two."""
    return min(
        (
            k
            for k in keys
            if len(frozenset(x for x in keys if x < k)) - len(frozenset(x for x in keys if x > k)) in (0, 1)
        ),
        default=None,
    )


@op
def moved(c: Config, s: State, old: Node, new: Node, keys: frozenset[Key]) -> Map[Slot, Value | None]:
    """The stored values after those of these keys have moved from one leaf to another."""
    return Map(
        {
            (n, k): s.stored[(n, k)]
            if k not in keys or (n != old and n != new) or not c.moves
            else None
            if n == old
            else s.stored[(old, k)]
            for n, k in every(c, Slot)
        }
    )


@init
def Init(c: Config) -> State:
    return State(
        root=0,
        leaves=frozenset(range(c.nodes)),
        keys=tuple(EMPTY for n in range(c.nodes)),
        child=Map({slot: None for slot in every(c, Slot)}),
        last=tuple(None for n in range(c.nodes)),
        stored=Map({slot: None for slot in every(c, Slot)}),
        focus=None,
        to_split=(),
        request=Request.NONE,
        key=None,
        value=None,
        answer=Answer.NONE,
        found=None,
        step=Step.READY,
    )


@action
def AskGet(c: Config, s: State, k: Key) -> State:
    """A client asks for the value of a key."""
    require(s.step == Step.READY, "nothing is being done")
    new = replace(s, request=Request.GET, key=k, value=None)
    return replace(new, answer=Answer.NONE, found=None, step=Step.GET_VALUE)


@action
def GetValue(c: Config, s: State) -> State:
    """The value is looked up."""
    require(s.step == Step.GET_VALUE, "a value is asked for")
    leaf = leaf_of(s, s.key)
    if s.key in s.keys[leaf]:
        return replace(s, answer=Answer.FOUND, found=s.stored[(leaf, s.key)], step=Step.READY)
    return replace(s, answer=Answer.MISSING, found=None, step=Step.READY)


@action
def AskInsert(c: Config, s: State, k: Key, v: Value) -> State:
    """A client asks to insert a key."""
    require(s.step == Step.READY, "nothing is being done")
    new = replace(s, request=Request.INSERT, key=k, value=v)
    return replace(new, answer=Answer.NONE, found=None, step=Step.FIND_LEAF)


@action
def AskUpdate(c: Config, s: State, k: Key, v: Value) -> State:
    """A client asks to give a key another value."""
    require(s.step == Step.READY, "nothing is being done")
    new = replace(s, request=Request.UPDATE, key=k, value=v, focus=leaf_of(s, k))
    return replace(new, answer=Answer.NONE, found=None, step=Step.UPDATE_LEAF)


@action
def UpdateLeaf(c: Config, s: State) -> State:
    """A key gets another value, if it is there."""
    require(s.step == Step.UPDATE_LEAF, "an update is asked for")
    done = replace(s, focus=None, step=Step.READY)
    if s.key in s.keys[s.focus]:
        return replace(done, stored=put(s.stored, (s.focus, s.key), s.value), answer=Answer.OK)
    return replace(done, answer=Answer.ERROR)


@action
def FindLeaf(c: Config, s: State) -> State:
    """The leaf for a new key is found; a full one has to be split."""
    require(s.step == Step.FIND_LEAF, "an insertion is asked for")
    leaf = leaf_of(s, s.key)
    if is_full(c, s, leaf):
        return replace(s, focus=leaf, to_split=(*s.to_split[:0], leaf), step=Step.WHICH_TO_SPLIT)
    return replace(s, focus=leaf, to_split=(), step=Step.ADD_TO_LEAF)


@action
def WhichToSplit(c: Config, s: State) -> State:
    """Nodes are looked at from the leaf up to the first one whose parent has room."""
    require(s.step == Step.WHICH_TO_SPLIT, "a node is to be split")
    node = s.to_split[len(s.to_split) - 1]
    if node == s.root:
        return replace(s, step=Step.SPLIT_ROOT_LEAF if node in s.leaves else Step.SPLIT_ROOT_INNER)
    above = parent(c, s, node)
    if is_full(c, s, above):
        return replace(s, to_split=(*s.to_split, above))
    return replace(s, step=Step.SPLIT_LEAF if node in s.leaves else Step.SPLIT_INNER)


@action
def AddToLeaf(c: Config, s: State) -> State:
    """The key is added to its leaf, unless it is there."""
    require(s.step == Step.ADD_TO_LEAF, "there is room")
    if s.key in s.keys[s.focus]:
        return replace(s, answer=Answer.ERROR, step=Step.READY)
    return replace(
        s,
        keys=put(s.keys, s.focus, s.keys[s.focus] | {s.key}),
        stored=put(s.stored, (s.focus, s.key), s.value),
        answer=Answer.OK,
        step=Step.READY,
    )


@action
def SplitRootLeaf(c: Config, s: State) -> State:
    """A root that is a leaf is split, and gets a root above it."""
    require(s.step == Step.SPLIT_ROOT_LEAF, "the root is a full leaf")
    old, new = s.to_split[len(s.to_split) - 1], free_node(c, s)
    root, pivot = another_free_node(c, s, new), pivot_of(s.keys[old])
    upper = frozenset(k for k in s.keys[old] if k >= pivot)
    keys = put(put(s.keys, root, frozenset({pivot})), old, s.keys[old] - upper)
    return replace(
        s,
        root=root,
        leaves=s.leaves - frozenset({root}),
        keys=put(keys, new, upper),
        child=put(s.child, (root, pivot), old),
        last=put(s.last, root, new),
        stored=moved(c, s, old, new, upper),
        step=Step.ADD_TO_LEAF,
        focus=old if s.key < pivot else new,
    )


@action
def SplitRootInner(c: Config, s: State) -> State:
    """A root that is an inner node is split, and its pivot goes to a root above it."""
    require(s.step == Step.SPLIT_ROOT_INNER, "the root is a full inner node")
    old, new = s.to_split[len(s.to_split) - 1], free_node(c, s)
    root, pivot = another_free_node(c, s, new), pivot_of(s.keys[old])
    lower = frozenset(k for k in s.keys[old] if k < pivot)
    upper = frozenset(k for k in s.keys[old] if k > pivot)
    child = Map(
        {
            (n, k): None
            if n == old and k in upper
            else s.child[(old, k)]
            if n == new and k in upper
            else s.child[(n, k)]
            for n, k in every(c, Slot)
        }
    )
    return replace(
        s,
        root=root,
        leaves=s.leaves - frozenset({root, new}),
        keys=put(put(put(s.keys, root, frozenset({pivot})), old, lower), new, upper),
        child=put(child, (root, pivot), old),
        last=put(put(put(s.last, root, new), new, s.last[old]), old, s.child[(old, pivot)]),
        to_split=(),
        step=Step.ADD_TO_LEAF,
    )


@action
def SplitLeaf(c: Config, s: State) -> State:
    """A leaf is split, and its pivot goes to its parent."""
    require(s.step == Step.SPLIT_LEAF, "the parent of a full leaf has room")
    old, new = s.to_split[len(s.to_split) - 1], free_node(c, s)
    above, pivot = parent(c, s, old), pivot_of(s.keys[old])
    upper = frozenset(k for k in s.keys[old] if k >= pivot)
    keys = put(put(s.keys, above, s.keys[above] | {pivot}), old, s.keys[old] - upper)
    of_old = min((k for k in s.keys[above] if s.child[(above, k)] == old), default=None)
    child = put(s.child, (above, pivot), old)
    split = replace(
        s,
        keys=put(keys, new, upper),
        stored=moved(c, s, old, new, upper),
        step=Step.ADD_TO_LEAF,
        focus=old if s.key < pivot else new,
    )
    if s.last[above] == old:
        return replace(split, child=child, last=put(s.last, above, new))
    return replace(split, child=put(child, (above, of_old), new))


@always("P-1")
def InnerNodesHaveALastChild(c: Config, s: State) -> bool:
    """An inner node has a last child, and a leaf has none."""
    return all((s.last[n] is None) == (n in s.leaves) for n in range(c.nodes))


@always("P-2")
def KeysAreInOrder(c: Config, s: State) -> bool:
    """All keys of a child are less than the key that it belongs to."""
    return all(
        all(below_k < k for below_k in s.keys[s.child[(n, k)]])
        for n in range(c.nodes)
        if n not in s.leaves
        for k in s.keys[n]
    )


@always("P-3")
def KeysAreInOneLeaf(c: Config, s: State) -> bool:
    """No two leaves have a key."""
    return all(n == m or s.keys[n] & s.keys[m] == EMPTY for n in s.leaves for m in s.leaves)


@always("P-4")
def ANodeIsFree(c: Config, s: State) -> bool:
    """There is always a node for the next split."""
    return any(is_free(s, n) for n in range(c.nodes))


@always("P-5")
def KeysHaveValues(c: Config, s: State) -> bool:
    """A leaf has the values of its keys and no other."""
    return all((s.stored[(n, k)] is not None) == (k in s.keys[n]) for n in s.leaves for k in every(c, Key))


@sometimes("W-1")
def HasTwoLevelsOfInnerNodes(c: Config, s: State) -> bool:
    """An inner node is below the root."""
    return any(n not in s.leaves and n != s.root for n in range(c.nodes))


MODEL = ProtocolModel(State, Config)
