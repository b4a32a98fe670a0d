"""What `what-if` does with the objects on stdin, before anything answers them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from elrcheck.base.strict import Node
from elrcheck.kafka.what_if.what_if_operations import OPERATIONS
from support.invoked import Invoke

Job = Callable[[str, str, Any], list[Any]]


def what_if(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    return invoke("what-if")


def echo(question: Node) -> dict[str, Any]:
    for broker in question.get("bad", []).items():
        broker.fail("no such broker", code="what-if-unknown-id")
    return {"error": "NONE", "got": question.value}


def test_one_object_over_several_lines(invoke: Invoke, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job("elrcheck.kafka.what_if.ask", "reply", echo)
    code, out, _ = what_if(invoke, monkeypatch, b'{\n "a": [1,\n 2]\n}\n')
    assert code == 0
    assert json.loads(out) == {"error": "NONE", "got": {"a": [1, 2]}}
    assert out.count("\n") == 1


def test_each_line_gets_an_answer(invoke: Invoke, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job("elrcheck.kafka.what_if.ask", "reply", echo)
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
    job("elrcheck.kafka.what_if.ask", "reply", echo)
    code, out, err = what_if(invoke, monkeypatch, raw)
    assert code == 2
    assert out.count("\n") == answers
    assert f"  --> {where}\n" in err


def test_it_answers_each_line_while_the_next_is_not_written() -> None:
    """As a co-process: the answer to a question is there before the next one is asked."""
    ask = {"partition": {"replicas": [1, 2, 3]}, "op": {"type": "fence", "broker": 1}}
    command, pipe = [sys.executable, "-m", "elrcheck", "what-if"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as run:
        assert run.stdin is not None and run.stdout is not None
        for epoch in range(3):
            question = {**ask, "partition": {**ask["partition"], "leader_epoch": epoch}}
            print(json.dumps(question), file=run.stdin, flush=True)
            assert json.loads(run.stdout.readline())["partition"]["leader_epoch"] == epoch + 1
        run.stdin.close()
        assert run.wait(timeout=60) == 0


def test_text_says_what_changes(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b'{"partition": {"replicas": [1, 2]}, "op": {"type": "fence", "broker": 1}}'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    code, out, _ = invoke("what-if", "-f", "text")
    assert code == 0
    assert out.splitlines() == [
        "fence broker=1: done",
        "  isr: [1, 2] -> [2]",
        "  elr: [] -> [1]",
        "  leader: 1 -> 2",
        "  leader_epoch: 0 -> 1",
        "  partition_epoch: 0 -> 1",
        "  broker 1 fenced: false -> true",
    ]


def test_a_person_who_types_is_told_what(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    raw = b'{"partition": {"replicas": [1]}, "op": {"type": "balance_preferred"}}\n'
    monkeypatch.setattr("sys.stdin", Terminal(io.BytesIO(raw)))
    code, out, err = invoke("what-if")
    assert (code, out) == (0, "balance_preferred: done\n  nothing changes\n")
    assert "Ctrl-D ends" in err and "--template" in err


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_template_is_a_question(name: str, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = invoke("what-if", "--template", name)
    assert code == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(out.encode())))
    code, out, err = invoke("what-if")
    assert (code, err) == (0, "")
    assert json.loads(out)["brokers"]


def test_a_template_of_no_operation(invoke: Invoke) -> None:
    code, out, err = invoke("what-if", "--template", "fense")
    assert (code, out) == (2, "")
    assert "did you mean `fence`" in err
