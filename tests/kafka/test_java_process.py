"""A process asked in lines always ends, and a crash is told with what it printed. Here Python plays Java."""

from __future__ import annotations

import sys
import tempfile

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.java_program import LineProcess

ECHO = """
import sys
print("hello", flush=True)
for line in sys.stdin:
    sys.stdout.write(line)
    if line == "f\\n":
        sys.stdout.flush()
"""


def process(source: str, silence: float = 30.0) -> LineProcess:
    return LineProcess((sys.executable, "-c", source), tempfile.TemporaryFile(), silence)


def test_as_many_answers_as_questions_however_many_there_are() -> None:
    questions = [f"question {number}".encode() for number in range(100_000)]
    with process(ECHO) as running:
        assert running.greeting() == "hello"
        assert running.ask([]) == []
        assert running.ask(questions) == questions
        assert running.ask([b"one more"]) == [b"one more"]


def test_it_ends_with_the_block() -> None:
    with pytest.raises(KeyError), process(ECHO) as running:
        raise KeyError
    assert running._process.returncode == 0


def test_a_crash_is_told_with_the_end_of_stderr() -> None:
    source = "import sys\nsys.stdin.readline()\nsys.stderr.write('one\\ntwo\\n')\nsys.exit(3)"
    with process(source) as running, pytest.raises(EnvironmentFault) as caught:
        running.ask([b"question"] * 50_000)
    assert caught.value.code == "kafka-driver"
    assert caught.value.excerpt == "one\ntwo" and "exit code 3" in caught.value.message


def test_a_process_that_says_nothing_is_ended() -> None:
    source = "import sys, time\nsys.stdin.readline()\ntime.sleep(600)"
    with process(source, silence=0.2) as running, pytest.raises(EnvironmentFault, match="no answer"):
        running.ask([b"question"])
    assert running._process.returncode is not None


def test_answers_that_are_not_as_many_as_questions_are_a_fault() -> None:
    source = "import sys\nsys.stdin.readline()\nprint('one\\nmore\\nf', flush=True)\nsys.stdin.read()"
    with process(source) as running, pytest.raises(EnvironmentFault, match="answer"):
        running.ask([b"question"])


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(EnvironmentFault) as caught, tempfile.TemporaryFile() as log:
        LineProcess(("/no/such/java",), log)
    assert caught.value.code == "java-missing"
