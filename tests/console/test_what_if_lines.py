"""What `what-if` does with the objects on stdin, before anything answers them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from elrcheck.base.strict import Node

Invoke = Callable[..., tuple[int, str, str]]
Job = Callable[[str, str, Any], list[Any]]


def what_if(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    return invoke("what-if")


def echo(question: Node) -> dict[str, Any]:
    for broker in question.get("bad", []).items():
        broker.fail("no such broker", code="what-if-unknown-id")
    return {"error": "NONE", "got": question.value}


def test_one_object_over_several_lines(invoke: Invoke, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job("elrcheck.commands.what_if.ask", "reply", echo)
    code, out, _ = what_if(invoke, monkeypatch, b'{\n "a": [1,\n 2]\n}\n')
    assert code == 0
    assert json.loads(out) == {"error": "NONE", "got": {"a": [1, 2]}}
    assert out.count("\n") == 1


def test_each_line_gets_an_answer(invoke: Invoke, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job("elrcheck.commands.what_if.ask", "reply", echo)
    code, out, _ = what_if(invoke, monkeypatch, b'\xef\xbb\xbf{"a":1}\n\n{"a":2}\r\n{"a":3}')
    assert code == 0
    assert [json.loads(line)["got"]["a"] for line in out.splitlines()] == [1, 2, 3]


@pytest.mark.parametrize(
    ("raw", "where", "answers"),
    [
        (b"", "<stdin>", 0),
        (b" \n", "<stdin>", 0),
        (b'{"a":1}\n{"a":', "<stdin>:2:6", 1),
        (b'{"a":1}\n{"a" 2}\n{"a":3}\n', "<stdin>:2:6", 1),
        (b'{"a":1}\n[1]\n', "<stdin>:2", 1),
        (b'{"a":1,"a":2}', "<stdin>:1", 0),
        (b'{"a":NaN}', "<stdin>:1", 0),
        (b'{"a":1}\n{"bad":\n[1]}\n{"a":3}\n', "<stdin>:3: bad[0]", 1),
        (b'{"a":"\xff"}', "<stdin>:1", 0),
        (b'{"a":' + b"[" * 200_000, "<stdin>:1", 0),
        (b'{"a":' + b"1" * 5000 + b"}", "<stdin>:1", 0),
    ],
)
def test_it_stops_at_the_first_bad_object(
    invoke: Invoke, job: Job, monkeypatch: pytest.MonkeyPatch, raw: bytes, where: str, answers: int
) -> None:
    job("elrcheck.commands.what_if.ask", "reply", echo)
    code, out, err = what_if(invoke, monkeypatch, raw)
    assert code == 2
    assert out.count("\n") == answers
    assert f"  --> {where}\n" in err
