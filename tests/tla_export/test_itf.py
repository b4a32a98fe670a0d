"""ITF traces and stored JSON traces: written, read back, read by others, refused with a place."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elrcheck.base.documents import read_json
from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Codes, JsonSource, Node
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import record, state
from elrcheck.lang.types import SeqMark, type_of
from elrcheck.model.replicas import RSET, Replica, RSet, Vec
from elrcheck.stored_traces.tracefile import CODES, decode_trace, decode_value, encode_value, stored_origin, write_trace
from elrcheck.tla_export.reading.itf import decode, encode, itf_states, type_text, write_itf
from elrcheck.traces.behaviour import Behaviour, TraceOrigin


class Mode(enum.Enum):
    UP = 0
    FENCED = 1


@record
class Entry:
    id: int
    epoch: int


@record
class View:
    isr: RSet
    leader: Replica | None
    armed: bool


@state
class State:
    view: View
    log: Vec[Annotated[tuple[Entry, ...], SeqMark(3)]]
    mode: Vec[Mode]
    seen: RSet | None


STATE = type_of(State)
FIRST = State(View(frozenset({0, 1}), 0, False), ((), (Entry(1, 0),)), (Mode.UP, Mode.UP), None)
SECOND = State(View(frozenset({1}), None, True), ((Entry(2, 1),), ()), (Mode.FENCED, Mode.UP), frozenset({0}))
X_JSON = JsonSource("x.json", Codes("test"))

entries = st.builds(Entry, st.integers(0, 9), st.integers(-1, 9))
states = st.builds(
    State,
    view=st.builds(View, st.frozensets(st.integers(0, 4)), st.none() | st.integers(0, 4), st.booleans()),
    log=st.lists(st.lists(entries, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple),
    mode=st.lists(st.sampled_from(Mode), min_size=1, max_size=3).map(tuple),
    seen=st.none() | st.frozensets(st.integers(0, 4)),
)


def change(path: Path, edit: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def placed(fault: UsageFault) -> tuple[Path, str]:
    """The file and the path; the line in between is that of the path."""
    file, line, path = str(fault.where).split(":", 2)
    assert 1 <= int(line) <= len(Path(file).read_text().splitlines())
    return Path(file), path.strip()


def refused(read: Callable[[], object]) -> UsageFault:
    with pytest.raises(UsageFault) as caught:
        read()
    assert caught.value.exit_code == 2
    return caught.value


# ---------------------------------------------------------------------------------------- ITF


@pytest.fixture
def itf(tmp_path: Path) -> Path:
    path = tmp_path / "cex.itf.json"
    write_itf(path, STATE, [FIRST, SECOND], ["Fence(0)"], meta={"variant": "kip_full"})
    return path


def read_itf(path: Path, *ignore: str) -> tuple[list[Any], list[str | None], int | None]:
    return itf_states(read_json(path, Codes("trace-file")), STATE, ignore=ignore)


def test_itf_document(itf: Path) -> None:
    document = json.loads(itf.read_text())
    assert list(document) == ["#meta", "params", "vars", "states"]
    assert document["#meta"]["format"] == "ITF" and document["#meta"]["variant"] == "kip_full"
    assert document["#meta"]["varTypes"] == {
        "view": "{ isr: Set(Int), leader: (Int | None_OF_OPT), armed: Bool }",
        "log": "(Int -> Seq({ id: Int, epoch: Int }))",
        "mode": "(Int -> Str)",
        "seen": "(Set(Int) | None_OF_OPT)",
    }
    first, second = document["states"]
    assert first["#meta"] == {"index": 0} and second["#meta"] == {"index": 1, "action": "Fence(0)"}
    assert first["view"] == {
        "isr": {"#set": [{"#bigint": "0"}, {"#bigint": "1"}]},
        "leader": {"#bigint": "0"},
        "armed": False,
    }
    assert second["view"]["leader"] == "None_OF_OPT"
    assert second["mode"] == {"#map": [[{"#bigint": "0"}, "FENCED"], [{"#bigint": "1"}, "UP"]]}


def test_itf_is_read_back(itf: Path) -> None:
    assert read_itf(itf) == ([FIRST, SECOND], ["Fence(0)"], None)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(states)
def test_values_survive_both_codecs(value: State) -> None:
    assert decode(STATE, Node(json.loads(json.dumps(encode(STATE, value))), X_JSON)) == value
    assert decode_value(STATE, Node(json.loads(json.dumps(encode_value(STATE, value))), X_JSON)) == value


def test_another_reader_of_itf_agrees(itf: Path) -> None:
    itf_py = pytest.importorskip("itf_py")
    document = json.loads(itf.read_text())
    trace = itf_py.trace_from_json(document)
    assert trace.vars == list(STATE.fields)
    second = trace.states[1]
    assert second.meta == {"index": 1, "action": "Fence(0)"}
    assert second.values["view"].isr == frozenset({1})
    assert second.values["view"].leader == "None_OF_OPT" and second.values["view"].armed is True
    assert trace.states[0].values["view"].leader == 0
    assert dict(second.values["mode"]) == {0: "FENCED", 1: "UP"}
    assert [tuple(e) for e in second.values["log"][0]] == [(2, 1)]
    # What it writes has the same values, in our reading of them.
    itf.write_text(json.dumps(itf_py.trace_to_json(trace)))
    assert read_itf(itf)[0] == [FIRST, SECOND]


def test_other_spellings_of_itf_are_read() -> None:
    optional = type_of(Replica | None)
    assert decode(optional, Node({"tag": "Some", "value": {"#bigint": "2"}}, X_JSON)) == 2
    assert decode(optional, Node({"tag": "None", "value": {"#tup": []}}, X_JSON)) is None
    assert decode(optional, Node(2, X_JSON)) == 2
    log = type_of(Annotated[tuple[int, ...], SeqMark(3)])
    assert decode(log, Node({"#tup": [1, 2]}, X_JSON)) == (1, 2)
    assert type_text(log) == "Seq(Int)"


@pytest.mark.parametrize(
    ("raw", "message", "place"),
    [
        ({"#set": [0, 0]}, "listed twice", "$"),
        ({"#set": [True]}, "expected a whole number, not true", "$['#set'][0]"),
        ({"#set": [{"#bigint": "1e3"}]}, "expected an integer", "$['#set'][0]['#bigint']"),
        ({"#set": [{"#bigint": "9" * 31}]}, "expected an integer", "$['#set'][0]['#bigint']"),
        ({"#set": [{"#bigint": "-1"}]}, "not a broker", "$['#set'][0]"),
        ({"#unserializable": "Nat"}, 'expected {"#set": [..]}', "$"),
        ([0], "not a list", "$"),
        ({"#set": 3}, "expected a list, not 3", "$['#set']"),
    ],
)
def test_wrong_itf_values(raw: Any, message: str, place: str) -> None:
    fault = refused(lambda: decode(RSET, Node(raw, X_JSON)))
    assert message in fault.message and fault.where == f"x.json: {place}"


@pytest.mark.parametrize(
    ("edit", "message", "place"),
    [
        (lambda d: d["states"][1]["view"].pop("isr"), "`isr` is missing", "$.states[1].view.isr"),
        (lambda d: d["states"][1].update(veiw=1), "unknown key `veiw`", "$.states[1].veiw"),
        (lambda d: d.update(vars=["view"]), "variable `log` is missing", "$.vars"),
        (lambda d: d["vars"].append("x"), "unknown variable `x`", "$.vars[4]"),
        (lambda d: d.update(states=[]), "at least one state", "$.states"),
        (lambda d: d.update(loop=2), "there is no state 2", "$.loop"),
        (lambda d: d["states"][0]["mode"]["#map"].pop(0), "each of 0..0, not [1]", "$.states[0].mode"),
        (
            lambda d: d["states"][0]["mode"]["#map"].append([1, "UP"]),
            "broker 1 is given twice",
            "$.states[0].mode['#map'][2]",
        ),
        (
            lambda d: d["states"][0]["mode"]["#map"][1].__setitem__(1, "FENCE"),
            "no member `FENCE`",
            "$.states[0].mode['#map'][1][1]",
        ),
    ],
)
def test_wrong_itf_files(itf: Path, edit: Callable[[Any], None], message: str, place: str) -> None:
    change(itf, edit)
    fault = refused(lambda: read_itf(itf))
    assert message in fault.message and placed(fault) == (itf, place)


def test_foreign_variables_can_be_ignored(itf: Path) -> None:
    def quint(document: Any) -> None:
        document["vars"].append("mbt::actionTaken")
        for row in document["states"]:
            row["mbt::actionTaken"] = "step"

    change(itf, quint)
    assert refused(lambda: read_itf(itf)).code == "trace-file"
    assert read_itf(itf, "mbt::actionTaken")[0] == [FIRST, SECOND]


# ------------------------------------------------------------------------------ stored traces

TRACE = Behaviour(
    TraceOrigin("kip_full", "two-brokers", {"min_isr": 1, "unclean": True}, "P-21"),
    states=(FIRST, SECOND),
    labels=(Label("Fence", (0, Mode.FENCED, frozenset({1}))),),
)
SIGNATURES = {"Fence": (type_of(Replica), type_of(Mode), RSET), "A": (), "B": ()}


def read_trace(path: Path) -> Behaviour[Label]:
    return decode_trace(read_json(path, CODES), STATE, SIGNATURES)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "deep" / "cex.json"
    write_trace(path, TRACE, STATE)
    return path


def test_a_stored_trace_is_read_back(stored: Path) -> None:
    assert read_trace(stored) == TRACE and stored_origin(stored) == TRACE.origin
    assert [p.name for p in stored.parent.iterdir()] == ["cex.json"]


def test_a_stored_trace_is_plain_json_with_a_state_on_each_line(stored: Path) -> None:
    text = stored.read_text()
    assert json.loads(text)["states"][1] == {
        "view": {"isr": [1], "leader": None, "armed": True},
        "log": [[{"id": 2, "epoch": 1}], []],
        "mode": ["FENCED", "UP"],
        "seen": [0],
    }
    assert len([line for line in text.splitlines() if '"isr"' in line]) == 2


def test_a_lasso_has_one_more_step(tmp_path: Path) -> None:
    path = tmp_path / "lasso.json"
    labels = (Label("A", ()), Label("B", ()))
    lasso = Behaviour(TraceOrigin("v", "s", property="L-1"), (FIRST, SECOND), labels, loop=0)
    write_trace(path, lasso, STATE)
    assert read_trace(path) == lasso


@pytest.mark.parametrize(
    ("edit", "message", "place"),
    [
        (lambda d: d.update(schema="elrcheck.trace/9"), "expected the schema elrcheck.trace/1", "$"),
        (lambda d: d.pop("schema"), "there is no key `schema`", "$"),
        (lambda d: d.update(stats=[]), "unknown key `stats`", "$.stats"),
        (lambda d: d.pop("scope"), "`scope` is missing", "$.scope"),
        (lambda d: d.update(variant=1), "expected a text, not 1", "$.variant"),
        (lambda d: d["states"].pop(), "1 states need 0 steps, not 1", "$.steps"),
        (lambda d: d.update(overrides=[]), "expected an object, not a list", "$.overrides"),
        (lambda d: d["overrides"].update(min_isr={}), "expected a plain value", "$.overrides.min_isr"),
        (lambda d: d["states"][1]["view"].update(isr=[1, 1]), "listed twice", "$.states[1].view.isr"),
        (lambda d: d["states"][1]["view"].update(isr=[-1]), "not a broker", "$.states[1].view.isr[0]"),
        (lambda d: d["states"][1]["view"].update(armed=1), "expected true", "$.states[1].view.armed"),
        (lambda d: d["states"][0]["view"].update(leader=1.5), "not 1.5", "$.states[0].view.leader"),
        (lambda d: d["states"][0]["log"][0].extend([{}] * 4), "4 elements where 3", "$.states[0].log[0]"),
        (lambda d: d["states"][0]["mode"].__setitem__(1, "DOWN"), "no member `DOWN`", "$.states[0].mode[1]"),
        (lambda d: d["steps"][0].update(action="Fense"), "unknown action `Fense`", "$.steps[0].action"),
        (lambda d: d["steps"][0].update(args=[0]), "takes 3 arguments, not 1", "$.steps[0].args"),
        (lambda d: d["steps"][0]["args"].__setitem__(0, "0"), "a whole number, not", "$.steps[0].args[0]"),
    ],
)
def test_wrong_stored_traces(stored: Path, edit: Callable[[Any], None], message: str, place: str) -> None:
    change(stored, edit)
    fault = refused(lambda: read_trace(stored))
    assert message in fault.message and placed(fault) == (stored, place)


def test_the_nearest_known_word_is_offered(stored: Path) -> None:
    change(stored, lambda d: d.update(stats=[]))
    assert refused(lambda: read_trace(stored)).help == "did you mean `states`?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,}', "not valid JSON"),
        ('{"a": 1, "a": 2}', "key `a` is given twice"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "more than 30 digits"),
        ("[]", "expected an object, not a list"),
        ("", "not valid JSON"),
    ],
)
def test_texts_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert message in refused(lambda: read_trace(path)).message


def test_files_that_are_refused(tmp_path: Path) -> None:
    assert "cannot read" in refused(lambda: read_trace(tmp_path / "none.json")).message
    assert "cannot read" in refused(lambda: read_trace(tmp_path)).message
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    assert "not UTF-8" in refused(lambda: read_trace(tmp_path / "latin.json")).message
    fault = refused(lambda: read_trace(tmp_path / "latin.json"))
    assert fault.where == f"{tmp_path / 'latin.json'}:1"
    (tmp_path / "line.json").write_text('{\n"a": 1\n"b": 2}')
    assert refused(lambda: read_trace(tmp_path / "line.json")).where == f"{tmp_path / 'line.json'}:3:1"
