r"""Read TLC's output (without -tool): figures, the error trace, the steps a witness accepted.

The output has no grammar. The reader relies on these conventions, shared by 2.15 and current versions:

* The last `N states generated, M distinct states found, ..` line has the final figures. Progress
  lines have the same shape with thousands separators, and come earlier.
* A state is a header, `State 3: <Fetch line 74, col 5 to ..>` (current versions print the arguments,
  `<Fetch(1,0) line ..>`), then `/\ variable = value` lines. A module of one variable has no `/\`.
  A wide value continues on indented lines. A violation in an initial state has no header.
* PrintT lines may stand between two states, and appear again whenever TLC recomputes the trace, so the
  accepted steps of a witness are a set. Wide ones are broken over several lines as well.
* A line of text that a module prints may look like anything, so a variable must parse as a value.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from elrcheck.tla_export.reading.parse import Parsed, ValueSyntaxError, parse

VERSION = re.compile(r"^TLC2 Version (.+?)\s*$", re.MULTILINE)
COUNTS = r"([\d,]+) states generated.*?, ([\d,]+) distinct states found"
FIGURES = re.compile(f"^{COUNTS}", re.MULTILINE)
PROGRESS = re.compile(rf"^Progress\([^)]*\).*?: {COUNTS}", re.MULTILINE)
DEPTH = re.compile(r"^The depth of the complete state graph search is (\d+)", re.MULTILINE)
VIOLATED = re.compile(r"^Error: (?:Invariant|Action property) (\S+) is violated", re.MULTILINE)
ACCEPTED = re.compile(r'^<<\s*"cex step accepted",\s*(\d+)', re.MULTILINE)
FIRST = re.compile(r'^<<"cex initial state accepted">>', re.MULTILINE)
WHOLE = re.compile(r'^<<"cex trace accepted, states", (\d+)>>', re.MULTILINE)
CHATTER = re.compile(
    r"TLC2 Version|Warning: Please run|\(Use the -nowarning|Running breadth-first|Parsing file"
    r"|Semantic process|Starting\.\.\.|Finished |Progress\(|Computing initial|\d+ states generated"
    r'|The depth of|The average outdegree|<<\s*"cex |See the User Output|This was probably caused|\s*$'
)
MESSAGE_LINES = 12

STATE = re.compile(r"^(?:State )?(\d+): ?(?:<(.*)>|(Stuttering))?\s*$")
BACK = re.compile(r"^Back to state (\d+)")
INITIAL = re.compile(r"violated by the initial state:\s*$")
VARIABLE = re.compile(r"^(?:/\\ )?([A-Za-z_]\w*) = (.*)$")
LOCATION = re.compile(r" line \d+, col \d+ to line \d+, col \d+ of module \S+$")

MEANINGS = {
    0: "no error found",
    1: "bad command line",
    10: "an assumption is false",
    11: "deadlock",
    12: "an invariant is violated",
    13: "a temporal or action property is violated",
    14: "an Assert of the module failed",
    75: "a value could not be computed",
    76: "an invariant could not be computed",
    77: "a temporal formula is a tautology",
    150: "the module does not parse",
    151: "the configuration names something the module does not have",
    152: "the state space is too large",
    153: "TLC ran out of a resource",
    255: "TLC failed: configuration syntax, missing file or an evaluation error",
}


@dataclass(frozen=True)
class TlcState:
    """One state of a printed trace: its number, the action that led to it, the variables."""

    number: int
    action: str
    variables: Mapping[str, Parsed]


@dataclass(frozen=True)
class TlcOutput:
    """The results read from one run's output; a figure is None where TLC did not print it.

    messages: the first lines that are not routine output; for a failed run, the reason.
    accepted, initial_accepted, accepted_whole: the lines printed by the witness of a trace.
    """

    version: str
    generated: int | None
    distinct: int | None
    depth: int | None
    violated: str | None
    accepted: frozenset[int]
    initial_accepted: bool
    accepted_whole: bool
    messages: tuple[str, ...]
    trace: tuple[TlcState, ...] = field(default=())
    loop: int | None = None

    @property
    def counts(self) -> tuple[int | None, int | None, int | None]:
        """Generated states, distinct states, and the depth of the search."""
        return self.generated, self.distinct, self.depth


def meaning(exit_code: int) -> str:
    """Describe an exit code of TLC; the codes are the same in 2.15 and in current versions."""
    return MEANINGS.get(exit_code, f"unknown exit code {exit_code}")


def read_output(text: str) -> TlcOutput:
    """Read the output of one run."""
    version = VERSION.search(text)
    figures = FIGURES.findall(text) or PROGRESS.findall(text)
    depth = DEPTH.findall(text)
    violated = VIOLATED.search(text)
    lines = text.splitlines()
    return TlcOutput(
        version=version[1] if version else "unknown",
        generated=_number(figures[-1][0]) if figures else None,
        distinct=_number(figures[-1][1]) if figures else None,
        depth=int(depth[-1]) if depth else None,
        violated=violated[1] if violated else None,
        accepted=frozenset(int(n) for n in ACCEPTED.findall(text)),
        initial_accepted=FIRST.search(text) is not None,
        accepted_whole=WHOLE.search(text) is not None,
        messages=tuple(itertools.islice((ln.strip() for ln in lines if not CHATTER.match(ln)), MESSAGE_LINES)),
        trace=tuple(read_states(lines)),
        loop=read_loop(lines),
    )


def read_states(lines: Iterable[str]) -> Iterator[TlcState]:
    """Read the states of a printed error trace or of a `-dump` file, in the order printed.

    Raise ValueSyntaxError, with the state and the variable, if a value does not parse.
    """
    number, action = 0, ""
    texts: dict[str, list[str]] | None = None
    for line in lines:
        line = line.rstrip("\r\n")
        header = STATE.match(line)
        if header or INITIAL.search(line):
            if texts:
                yield _state(number, action, texts)
            number = int(header[1]) if header else 1
            action = (header[2] or header[3] or "") if header else "Initial predicate"
            texts = {}
        elif texts is not None and (variable := VARIABLE.match(line)):
            texts[variable[1]] = [variable[2]]
        elif texts and line.startswith(" ") and line.strip():
            texts[next(reversed(texts))].append(line)
        elif texts:
            yield _state(number, action, texts)
            texts = None
    if texts:
        yield _state(number, action, texts)


def _state(number: int, action: str, texts: Mapping[str, list[str]]) -> TlcState:
    variables: dict[str, Parsed] = {}
    for name, pieces in texts.items():
        try:
            variables[name] = parse("\n".join(pieces))
        except ValueSyntaxError as fault:
            raise ValueSyntaxError(f"state {number}, variable {name}: {fault}") from fault
    return TlcState(number, LOCATION.sub("", action), variables)


def read_loop(lines: Iterable[str]) -> int | None:
    """Read the number of the state a lasso returns to; a stuttering end returns to the last state."""
    for line in lines:
        if back := BACK.match(line):
            return int(back[1])
        if (header := STATE.match(line)) and header[3]:
            return int(header[1]) - 1
    return None


def _number(text: str) -> int:
    return int(text.replace(",", ""))
