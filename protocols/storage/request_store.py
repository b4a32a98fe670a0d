"""A store of keys and values behind requests: a client asks, and gets its answer, one request at a time.

Source: kvstore.tla of the TLA+ Examples (btree), by L. Hochstein, which a B-tree implements there. With three keys and
three values: 2,641 distinct states, 28,585 generated, diameter 9. The manifest of the examples has a depth of 11; one
worker of TLC counts 9.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Key = Annotated[int, sort("Key", "keys")]
Value = Annotated[int, sort("Value", "values")]


class Operation(enum.Enum):
    GET = "get"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


class Answer(enum.Enum):
    OK = "ok"
    ERROR = "error"
    MISSING = "missing"
    VALUE = "value"


@config
class Config:
    """overwrites: an insertion replaces a value that is there."""

    keys: int = 3
    values: int = 3
    overwrites: bool = False


@state
class State:
    """operation, key, value: the last request. answer, answered: the answer to it, and its value, once it is given."""

    stored: Annotated[tuple[Value | None, ...], Per(Key)]
    working: bool
    operation: Operation | None
    key: Key | None
    value: Value | None
    answer: Answer | None
    answered: Value | None


@init
def Init(c: Config) -> State:
    return State(
        stored=tuple(None for k in range(c.keys)),
        working=False,
        operation=None,
        key=None,
        value=None,
        answer=None,
        answered=None,
    )


@op
def with_request(s: State, operation: Operation, key: Key, value: Value | None) -> State:
    return replace(s, working=True, operation=operation, key=key, value=value, answer=None, answered=None)


@action
def AskToGet(c: Config, s: State, k: Key) -> State:
    """The client asks for a value."""
    require(not s.working, "the last request has its answer")
    return with_request(s, Operation.GET, k, None)


@action
def AskToDelete(c: Config, s: State, k: Key) -> State:
    """The client asks for a deletion."""
    require(not s.working, "the last request has its answer")
    return with_request(s, Operation.DELETE, k, None)


@action
def AskToInsert(c: Config, s: State, k: Key, v: Value) -> State:
    """The client asks for an insertion."""
    require(not s.working, "the last request has its answer")
    return with_request(s, Operation.INSERT, k, v)


@action
def AskToUpdate(c: Config, s: State, k: Key, v: Value) -> State:
    """The client asks for another value of a key."""
    require(not s.working, "the last request has its answer")
    return with_request(s, Operation.UPDATE, k, v)


@action
def AnswerGet(c: Config, s: State) -> State:
    """The store answers with the value, also again, as long as nothing else is asked."""
    require(s.operation == Operation.GET and s.key is not None, "a value is asked for")
    value = s.stored[s.key]
    return replace(s, working=False, answer=Answer.MISSING if value is None else Answer.VALUE, answered=value)


@action
def AnswerInsert(c: Config, s: State) -> State:
    """The store inserts the value, unless the key has one."""
    require(s.working and s.operation == Operation.INSERT and s.key is not None, "an insertion is asked for")
    absent = s.stored[s.key] is None
    answer = Answer.OK if absent else Answer.ERROR
    if absent or c.overwrites:
        return replace(s, working=False, answer=answer, stored=put(s.stored, s.key, s.value))
    return replace(s, working=False, answer=answer)


@action
def AnswerUpdate(c: Config, s: State) -> State:
    """The store replaces the value, if the key has one; also again, as long as nothing else is asked."""
    require(s.operation == Operation.UPDATE and s.key is not None, "another value is asked for")
    if s.stored[s.key] is None:
        return replace(s, working=False, answer=Answer.ERROR)
    return replace(s, working=False, answer=Answer.OK, stored=put(s.stored, s.key, s.value))


@action
def AnswerDelete(c: Config, s: State) -> State:
    """The store deletes the value, if there is one; also again, as long as nothing else is asked."""
    require(s.operation == Operation.DELETE and s.key is not None, "a deletion is asked for")
    return replace(s, working=False, answer=Answer.OK, stored=put(s.stored, s.key, None))


@always("P-1")
def InsertionKeepsValues(c: Config, s: State, t: State) -> bool:
    """The answer to an insertion changes no value that is there."""
    insertion = s.working and not t.working and s.operation == Operation.INSERT
    return not insertion or all(s.stored[k] is None or t.stored[k] == s.stored[k] for k in range(c.keys))


@sometimes("W-1")
def Missed(c: Config, s: State) -> bool:
    """A key that was asked for has no value."""
    return s.answer == Answer.MISSING


MODEL = ProtocolModel(State, Config, variants={"overwriting": {"overwrites": True}})
