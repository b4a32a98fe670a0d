"""The strict reader: where it says that a mistake is, in words that fit JSON and TOML alike."""

from __future__ import annotations

import enum
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.documents import parse_json, parse_objects, read_toml
from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Codes, JsonSource, Node, json_line, toml_lines

CODES = Codes("value", unknown_key="unknown", missing_key="missing", malformed="malformed")
JSON = """{
 "size": 3,
 "steps": [
  {"name": "a", "on": true},
  {
   "name": "b",
   "on": [1, {"x y": "deep"}]
  }
 ]
}
"""
TOML = '''a = 1

[t]  # table
b = 2
[t."u"]
"c" = 3
d.e = 4
text = """
[not a table]
f = 5
"""
[[row]]
x = 1
[[row]]
y.z = 2
[[row.part]]
"p q" = { r = 1 }
'''


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


def fault_of(call: Callable[[], Any]) -> UsageFault:
    with pytest.raises(UsageFault) as caught:
        call()
    return caught.value


# ------------------------------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("size",), 2),
        (("steps",), 3),
        (("steps", 0, "on"), 4),
        (("steps", 1), 5),
        (("steps", 1, "on", 1, "x y"), 7),
        (("steps", 1, "absent"), 5),
        (("steps", 9), 3),
        (("size", "inside a number"), 2),
    ],
)
def test_lines_of_json(path: tuple[str | int, ...], line: int) -> None:
    """Of what is not there, the line of what is around it."""
    assert json_line(JSON, path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 1),
        (("t",), 3),
        (("t", "b"), 4),
        (("t", "u", "c"), 6),
        (("t", "u", "d", "e"), 7),
        (("t", "u", "text"), 8),
        (("row", 0, "x"), 13),
        (("row", 1, "y", "z"), 15),
        (("row", 1, "part", 0, "p q"), 17),
        (("z",), None),
        (("t", "u", "f"), None),
    ],
)
def test_lines_of_toml(path: tuple[str | int, ...], line: int | None) -> None:
    assert toml_lines(TOML).get(path) == line


def test_an_inline_table_is_on_the_line_of_its_key(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    part = read_toml(tmp_path / "a.toml", CODES)["row"].items()[1]["part"].items()[0]
    assert part["p q"]["r"].where == f"{tmp_path / 'a.toml'}:17"


# ------------------------------------------------------------------------------------- places


def test_a_fault_in_json_has_file_line_and_path() -> None:
    step = parse_json(JSON, "a.json", CODES)["steps"].items()[1]
    fault = fault_of(step["on"].boolean)
    assert fault.render() == ("error[value]: expected true or false, not a list\n  --> a.json:7: $.steps[1].on")
    assert step["on"].items()[1]["x y"].where == "a.json:7: $.steps[1].on[1]['x y']"


def test_a_fault_in_toml_has_the_line_and_names_the_key(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    root = read_toml(tmp_path / "a.toml", CODES)
    fault = fault_of(lambda: root["t"]["u"]["d"].text())
    assert (fault.message, fault.where) == ("`d`: expected a text, not a table", f"{tmp_path / 'a.toml'}:7")
    fault = fault_of(lambda: root["t"]["u"].object((), ("c", "text", "dd")))
    assert fault.render() == (
        f"error[unknown]: unknown key `d` in [t.u]\n  --> {tmp_path / 'a.toml'}:7\n   = help: did you mean `dd`?"
    )


def test_a_value_without_a_file_has_a_path_only() -> None:
    node = Node({"isr": [1, True]}, JsonSource("", CODES, root=""))
    assert fault_of(lambda: [part.integer() for part in node["isr"].items()]).where == "isr[1]"
    assert fault_of(lambda: node["elr"]).where == "elr"
    assert fault_of(node.text).where is None


def test_objects_of_a_stream_are_placed_in_the_whole_text() -> None:
    first, second = parse_objects([b'\n{"a": 1}\n{\n "a": "x"}\n'], "<stdin>", CODES)
    assert first["a"].where == "<stdin>:2: a"
    assert fault_of(second["a"].integer).where == "<stdin>:4: a"


# ------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("value", "read", "says"),
    [
        (True, Node.integer, "expected a whole number, not true"),
        (1.5, Node.natural, "expected a whole number, 0 or more, not 1.5"),
        (-1, Node.natural, "expected a whole number, 0 or more, not -1"),
        (0, Node.positive, "expected a whole number, 1 or more, not 0"),
        (1, Node.boolean, "expected true or false, not 1"),
        (None, Node.text, "expected a text, not null"),
        (["a", 1], Node.texts, "expected a text, not 1"),
        ("a", Node.items, "expected a list, not 'a'"),
        ([], Node.object, "expected an object, not a list"),
        ([], lambda node: node.map(Node.text), "expected an object, not a list"),
        ("x" * 99, Node.boolean, "expected true or false, not '" + "x" * 36 + "..."),
        ("red", lambda node: node.member(Colour), "expected RED or GREEN, not 'red'"),
        ({}, lambda node: node.choice(("a", "b")), "expected a or b, not an object"),
    ],
)
def test_values_of_another_kind(value: Any, read: Callable[[Node], Any], says: str) -> None:
    assert fault_of(lambda: read(Node(value, JsonSource("a.json", CODES)))).message == says


def test_what_is_right_is_handed_out() -> None:
    node = parse_json('{"a": 1, "b": ["x"], "c": "RED", "d": null}', "a.json", CODES)
    node.object(("a",), ("b", "c", "d"))
    assert (node["a"].positive(), node["b"].texts(), node["c"].member(Colour)) == (1, ("x",), Colour.RED)
    assert (node.maybe("a", Node.integer, None), node.maybe("e", Node.integer, 7)) == (1, 7)
    assert node.get("e", []).items() == [] and "e" not in node


def test_an_unknown_key_is_refused_before_a_missing_one() -> None:
    node = parse_json('{"sise": 1}', "a.json", CODES)
    fault = fault_of(lambda: node.object(("size",)))
    assert (fault.code, fault.help) == ("unknown", "did you mean `size`?")
    assert fault_of(lambda: node.object(("size",), None)).code == "missing"


# -------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("text", "says", "where"),
    [
        ('{"a": 1}\n{"a": 2}', "more after the end", "a.json:2"),
        ('{"a": 1, "a": 2}', "key `a` is given twice", "a.json:1"),
        ('{\n"a": Infinity}', "Infinity is not a JSON number", "a.json:1"),
        ("[1e999]", "a number that is too large", "a.json:1"),
        ("9" * 31, "a number of more than 30 digits", "a.json:1"),
        ("[" * 100_000, "nested too deeply", "a.json:1"),
        ('{\n"a": 1,}', "not valid JSON", "a.json:2:"),
        ("", "not valid JSON", "a.json:1:1"),
    ],
)
def test_json_is_refused_alike_in_a_file_and_in_a_stream(text: str, says: str, where: str) -> None:
    fault = fault_of(lambda: parse_json(text, "a.json", CODES))
    assert fault.code == "malformed" and says in fault.message and str(fault.where).startswith(where)
    if text.startswith("{") and "after the end" not in says:
        streamed = fault_of(lambda: list(parse_objects([text.encode()], "a.json", CODES)))
        assert (streamed.message, streamed.where) == (fault.message, fault.where)


@pytest.mark.parametrize(
    ("raw", "says", "where"),
    [
        (b"  \n", "the input is empty", "<stdin>"),
        (b'{}\n"\xff"', "not UTF-8", "<stdin>:2"),
        (b"{}\n3", "expected a JSON object", "<stdin>:2"),
    ],
)
def test_a_stream_has_objects_only(raw: bytes, says: str, where: str) -> None:
    fault = fault_of(lambda: list(parse_objects([raw], "<stdin>", CODES)))
    assert says in fault.message and fault.where == where


@pytest.mark.parametrize("key", ["a.b." * 50_000 + "c = 1", "[" + '"a" . ' * 50_000 + "c]"])
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.toml").write_text(f"x.y.z = 'a.b.c'\n{key}\n")
    with pytest.raises(UsageFault, match="too many parts") as caught:
        read_toml(tmp_path / "a.toml")
    assert caught.value.where == f"{tmp_path / 'a.toml'}:2"


@pytest.mark.parametrize("value", ["a text", 1, None, ["a"]])
def test_what_is_no_object_has_no_fields(value: object) -> None:
    node = parse_json(json.dumps({"a": value}), "a.json", CODES)["a"]
    reads = (lambda: node["a"], lambda: node.get("a"), lambda: node.maybe("a", Node.text, ""))
    for ask in (*reads, lambda: "a" in node):
        with pytest.raises(UsageFault, match="expected an object"):
            ask()


@pytest.mark.parametrize("start", ["[", "a", '"a"', "[[", "'a' . "])
def test_a_long_line_is_looked_at_once(start: str) -> None:
    """Each of several gaps tried at each place would take hours."""
    line = start + " " * 200_000 + ","
    started = time.perf_counter()
    assert toml_lines(f"a = [\n{line}\n]\n[ b . 'c d' ]  # x\n e = 1") == {
        ("a",): 1,
        ("b",): 4,
        ("b", "c d"): 4,
        ("b", "c d", "e"): 5,
    }
    assert time.perf_counter() - started < 5.0
