"""Mistakes that somebody makes who writes a first model: each is named with its place and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.commands.new_model import write_new
from support.edits import replaced
from support.invoked import Invoke

FIELD = "    locked: bool\n"
NODE = '@record\nclass Node:\n    after: "{}"\n\n\n@state\n'
RECORDS = (
    "from elrcheck.lang.runtime import",
    "from elrcheck.lang.runtime import record\nfrom elrcheck.lang.runtime import",
)
NUMBERS = ("from elrcheck.lang.types import", "from elrcheck.lang.types import nat\nfrom elrcheck.lang.types import")
START = ("locked=False)\n\n\n@action\ndef Test", "locked=False, n={})\n\n\n@action\ndef Test")
TAKES = "def Test(c: Config, s: State, p: Process"

ENDLESS = """
    def __post_init__(self) -> None:
        self.__post_init__()
"""
AGAIN = """@init
def Again(c: Config) -> State:
    return State(at=tuple(At.INSIDE for p in range(c.processes)), locked=True)


@action
def Test"""

Edits = tuple[tuple[str, str], ...]
CASES: dict[str, tuple[Edits, str, str]] = {
    "a list": (
        (("at: Annotated[tuple[At, ...], Per(Process)]", "at: list[At]"),),
        "State.at: not a type of the modelling language: list[At]",
        "one value for each member of a sort is Annotated[tuple[T, ...], Per(Sort)]",
    ),
    "a property that is a lemma": (
        (('@always("P-1")', '@lemma\n@always("P-1")'), ("import action", "import lemma, action")),
        "is @always and @lemma",
        "write two functions",
    ),
    "two functions of a name": (
        (("@action\ndef Test(", "@action\ndef Enter("),),
        "two functions are called Enter: this replaces the one at line",
        "give one of them another name",
    ),
    "words for fairness": ((("@action\ndef Test", '@action(fairness="soon")\ndef Test'),), "not 'soon'", "Fair("),
    "modules by name": (
        (("ProtocolModel(State, Config", 'ProtocolModel(State, Config, modules=("lock",)'),),
        "`modules` are imported modules",
        "modules=(rules,)",
    ),
    "no number at all": (
        (NUMBERS, (FIELD, f'{FIELD}    n: Annotated[int, nat("N", lo=5, hi=3)]\n')),
        "N has no values: the least is 5 and the greatest 3",
        "lo=",
    ),
    "a map of a sort": (
        ((FIELD, f"{FIELD}    n: Map[Process, bool]\n"), ("import action", "import Map, action")),
        "not a type of the modelling language: Map[Process, bool]",
        "Per(Process)",
    ),
    "a setting that needs itself": (
        (("    processes: int = 2\n", f"    processes: int = 2\n{ENDLESS}"),),
        "RecursionError",
        "must not depend on itself",
    ),
    "a number without room": (
        ((FIELD, f"{FIELD}    n: int\n"), (START[0], START[1].format(0))),
        "State.n: a search has to reserve room for a number",
        'Annotated[int, nat("N", hi=3)]',
    ),
    "a set of any number": (
        ((FIELD, f"{FIELD}    n: frozenset[int]\n"),),
        "State.n: not a type of the modelling language: frozenset[int]",
        "int is infinite",
    ),
    "a parameter of any number": (((TAKES, f"{TAKES}, k: int"),), "every value of 'k' is tried", "a nat(..) with hi="),
    "too many choices": (
        (NUMBERS, (TAKES, f'{TAKES}, k: Annotated[int, nat("K", hi=10**8)]')),
        "K has 100000001 values under this configuration",
        "def Test(c: Config",
    ),
    "too many choices together": (
        (NUMBERS, (TAKES, f'{TAKES}, k: Annotated[int, nat("K", hi=999)], m: Annotated[int, nat("K", hi=999)]')),
        "Test has 2000000 choices of its parameters",
        "def Test(c: Config",
    ),
    "too many members": (
        (
            NUMBERS,
            (FIELD, f'{FIELD}    n: frozenset[Annotated[int, nat("N", hi=10**8)]]\n'),
            (START[0], START[1].format("frozenset()")),
        ),
        "N has 100000001 values",
        "a type with fewer values",
    ),
    "a start outside its type": (
        (NUMBERS, (FIELD, f'{FIELD}    n: Annotated[int, nat("N", hi=2)]\n'), (START[0], START[1].format(7))),
        "n is 7 in an initial state, and its type has 0 to 2",
        "def Init(c: Config)",
    ),
    "an unknown size": (
        (('sort("Process", "processes")', 'sort("Process", "others")'),),
        "the size 'others' of Process is not a field of Config",
        "at: Annotated[tuple[At, ...], Per(Process)]",
    ),
    "a record in itself": (
        (RECORDS, ("@state\n", NODE.format("Node")), (FIELD, f"{FIELD}    n: Node\n"), (START[0], START[1].format(0))),
        "Node.after: a Node would contain another one, and so on for ever",
        "by a member of a sort",
    ),
    "a record in a set of itself": (
        (RECORDS, ("@state\n", NODE.format("frozenset[Node]")), (FIELD, f"{FIELD}    n: Node\n")),
        "Node.after: a Node would contain another one, and so on for ever",
        "by a member of a sort",
    ),
    "no init": ((("@init\n", ""),), "exactly one @init function, not 0", "@init def Init(c: Config)"),
    "two inits": ((("@action\ndef Test", AGAIN),), "exactly one @init function, not 2", "Init at "),
    "no action": ((("@action\n", ""),), "the model has no @action", "@action def Step"),
    "a field without a default": (
        (("processes: int = 2", "processes: int"),),
        "Config.processes: a field of the configuration has a default",
        "processes: int",
    ),
    "a variant of another type": (
        (('"tests_again": True', '"tests_again": 3'),),
        "is of the type bool, not 3",
        "atomic",
    ),
    "a scope of another type": ((('"processes": 5', '"processes": "five"'),), "is of the type int, not 'five'", "five"),
    "variants without names": (
        (('variants={"atomic": {"tests_again": True}}', "variants=[]"),),
        "variants have names",
        "",
    ),
    "state and config changed round": (
        (("(State, Config,", "(Config, State,"),),
        "no decorator @state",
        "first the class",
    ),
    "two models": (
        (("MODEL =", "OTHER = ProtocolModel(State, Config)\nMODEL ="),),
        "more than one ProtocolModel",
        "keep one of OTHER, MODEL",
    ),
    "no Python": (((f"{TAKES})", "def Test c)"),), "not valid Python: ", "def Test c) -> State:"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_has_its_place_and_what_to_write(case: str, invoke: Invoke, tmp_path: Path) -> None:
    edits, says, help = CASES[case]
    file = write_new("mine", tmp_path)[0]
    text = file.read_text()
    for old, new in edits:
        text = replaced(text, old, new, text.count(old))
    file.write_text(text)
    code, out, err = invoke("check", "--model", "mine.py")
    assert (code, out) == (2, "") and says in err and help in err
    assert "mine.py" in err or case == "too many members"
    assert "internal" not in err and "Traceback" not in err


def test_files_that_cannot_be_read_as_python(invoke: Invoke, tmp_path: Path) -> None:
    for name, content in (("bytes", b"\x00x"), ("latin", 'x = "é"'.encode("latin-1"))):
        (tmp_path / f"{name}.py").write_bytes(content)
        code, _, err = invoke("check", "--model", f"{name}.py")
        why = "not valid Python" if name == "bytes" else "the file is not UTF-8 text"
        assert code == 2 and why in err and f"{name}.py" in err and "None" not in err
    (tmp_path / "folder").mkdir()
    code, _, err = invoke("check", "--model", "folder")
    assert code == 2 and "there is no file" in err and "a folder with one" in err


def test_a_number_that_leaves_its_type_is_inconclusive_and_says_what_it_needs(invoke: Invoke, tmp_path: Path) -> None:
    file = write_new("mine", tmp_path)[0]
    text = replaced(file.read_text(), *NUMBERS)
    text = replaced(text, FIELD, f'{FIELD}    n: Annotated[int, nat("N", hi=2)]\n')
    text = replaced(text, START[0], START[1].format(0))
    file.write_text(replaced(text, "at=put(s.at, p, At.TESTED))", "at=put(s.at, p, At.TESTED), n=s.n + 1)"))
    code, out, _ = invoke("check", "--model", "mine.py", "--variant", "atomic")
    assert code == 3 and "n exceeded its bit width" in out and "it needs a guard, or its type more room" in out
