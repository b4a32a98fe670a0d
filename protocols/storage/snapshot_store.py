"""A store with snapshot isolation: a transaction works on a copy, and is merged unless it missed a write of its keys.

Source: KeyValueStore.tla of the TLA+ Examples, by A. Helwer and M. Demirbas. The manifest of the examples records no
counts; with two keys, two values and two transactions TLC counts 28,305 distinct states, 314,965 generated and a
diameter of 17 on the published module, and so does this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Key = Annotated[int, sort("Key", "keys")]
Value = Annotated[int, sort("Value", "values")]
Transaction = Annotated[int, sort("Transaction", "transactions")]
Store = Annotated[tuple[Value | None, ...], Per(Key)]


@config
class Config:
    """detects: a transaction that missed a write of a key that it writes is not merged."""

    keys: int = 2
    values: int = 2
    transactions: int = 2
    detects: bool = True


@state
class State:
    """copy, written, missed: of each open transaction its snapshot, what it wrote, and what it did not see."""

    store: Store
    open: frozenset[Transaction]
    copy: Annotated[tuple[Store, ...], Per(Transaction)]
    written: Annotated[tuple[frozenset[Key], ...], Per(Transaction)]
    missed: Annotated[tuple[frozenset[Key], ...], Per(Transaction)]


@op
def nothing(c: Config) -> Store:
    return tuple(None for k in range(c.keys))


@init
def Init(c: Config) -> State:
    return State(
        store=nothing(c),
        open=EMPTY,
        copy=tuple(nothing(c) for t in range(c.transactions)),
        written=tuple(EMPTY for t in range(c.transactions)),
        missed=tuple(EMPTY for t in range(c.transactions)),
    )


@action
def Open(c: Config, s: State, t: Transaction) -> State:
    """A transaction takes a snapshot."""
    require(t not in s.open, "t is not open")
    return replace(s, open=s.open | {t}, copy=put(s.copy, t, s.store))


@action
def Write(c: Config, s: State, t: Transaction, k: Key, v: Value) -> State:
    """A transaction gives a key another value."""
    require(t in s.open, "t is open")
    require(s.copy[t][k] != v, "the value is another one")
    return replace(s, copy=put(s.copy, t, put(s.copy[t], k, v)), written=put(s.written, t, s.written[t] | {k}))


@action
def Remove(c: Config, s: State, t: Transaction, k: Key) -> State:
    """A transaction removes a key."""
    require(t in s.open, "t is open")
    require(s.copy[t][k] is not None, "the key has a value")
    return replace(s, copy=put(s.copy, t, put(s.copy[t], k, None)), written=put(s.written, t, s.written[t] | {k}))


@op
def ended(c: Config, s: State, t: Transaction) -> State:
    return replace(s, open=s.open - frozenset({t}), copy=put(s.copy, t, nothing(c)), written=put(s.written, t, EMPTY))


@action
def RollBack(c: Config, s: State, t: Transaction) -> State:
    """A transaction ends without effect."""
    require(t in s.open, "t is open")
    return replace(ended(c, s, t), missed=put(s.missed, t, EMPTY))


@action
def Commit(c: Config, s: State, t: Transaction) -> State:
    """A transaction is merged; the others miss what it wrote."""
    require(t in s.open, "t is open")
    require(len(s.missed[t] & s.written[t]) == 0 or not c.detects, "t missed no write of a key that it wrote")
    store = tuple(s.copy[t][k] if k in s.written[t] else s.store[k] for k in range(c.keys))
    missed = tuple(s.missed[o] | s.written[t] if o in s.open and o != t else EMPTY for o in range(c.transactions))
    return replace(ended(c, s, t), store=store, missed=missed)


@always("P-1")
def DifferencesAreKnown(c: Config, s: State) -> bool:
    """Where a snapshot differs from the store, the transaction wrote the key, or missed a write of it."""
    return all(
        s.store[k] == s.copy[t][k] or k in s.written[t] or k in s.missed[t] for t in s.open for k in range(c.keys)
    )


@always("P-2")
def NoUpdateIsLost(c: Config, s: State, n: State) -> bool:
    """A merged transaction missed no write of the keys that it wrote."""
    return all(t in n.open or n.store == s.store or len(s.missed[t] & s.written[t]) == 0 for t in s.open)


@sometimes("W-1")
def Conflict(c: Config, s: State) -> bool:
    """A transaction missed a write of a key that it wrote."""
    return any(len(s.missed[t] & s.written[t]) > 0 for t in s.open)


MODEL = ProtocolModel(State, Config, variants={"last_wins": {"detects": False}}, scopes={"three": {"transactions": 3}})
