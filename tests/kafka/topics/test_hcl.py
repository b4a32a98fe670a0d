"""HCL without evaluation: what is a literal, what is passed over, and where a fault is."""

from __future__ import annotations

import pytest

from elrcheck.kafka.topics.hcl import Expression, HclFault, Value, read_blocks


def value(text: str) -> Value:
    (block,) = read_blocks(f"b {{\n  a = {text}\n  next = 1\n}}\n")
    assert block.attributes["next"].value == "1", "the value ends where it should"
    return block.attributes["a"].value


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('"x"', "x"),
        ("3", "3"),
        ("-1.5e3 # why", "-1.5e3"),
        ("true // why", True),
        ("null", None),
        ('"a\\"b\\u00e9"', 'a"bé'),
        ('"$${a} %%{b}"', "${a} %{b}"),
        ("[1, 2,\n  3,\n]", ["1", "2", "3"]),
        ('{ "min.insync.replicas" = 2, b : "c" }', {"min.insync.replicas": "2", "b": "c"}),
        ('{\n  x = "1" /* one\n */\n  y = [true]\n}', {"x": "1", "y": [True]}),
        ("{}", {}),
    ],
)
def test_literals(text: str, read: Value) -> None:
    assert value(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "var.replicas",
        "1 + 2",
        '"${var.a}-x"',
        '"${lookup(var.m, "k")}"',
        'var.on ? "a" : "b"',
        "{ for k, v in var.m : k => v }",
        "[for x in var.l : upper(x)]",
        "{ (local.k) = 1, b = 2 }",
        "merge({ a = 1 }, {\n b = 2\n})",
        "(\n 1\n)",
        "3d",
        "<<-EOT\n  } replication_factor = 1\n  EOT",
        '"%{ if a }x%{ endif }"',
    ],
)
def test_expressions_are_passed_over(text: str) -> None:
    assert isinstance(value(text), Expression)


def test_blocks_have_labels_lines_and_blocks() -> None:
    text = '\ufeff# one\nresource "kafka_topic" orders {\n  lifecycle {\n    x = 1\n  }\n}\n\n/* a\n b */ locals {}\n'
    first, second = read_blocks(text)
    assert (first.kind, first.labels, first.line) == ("resource", ("kafka_topic", "orders"), 2)
    assert [(inner.kind, inner.line) for inner in first.blocks] == [("lifecycle", 3)]
    assert (second.kind, second.line) == ("locals", 9)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a {\n  b = 1\n", 3, "an attribute, a block or `}` expected, not the end"),
        ("a {\n  b =\n}", 2, "a value expected"),
        ('a {\n  b = "x\n}', 2, "the string does not end on its line"),
        ("a {\n  b = 1\n  b = 2\n}", 3, "`b` appears twice"),
        ('a {\n  b = { x = 1, "x" = 2 }\n}', 2, "the key `x` appears twice"),
        ('a {\n  b = "\\q"\n}', 2, "not an escape"),
        ("a {\n  b = f(1]\n}", 2, "`]` closes nothing"),
        ("a {\n  b = f(\n}", 3, "`}` closes nothing"),
        ("a {\n  b = <<E\nx\n}", 2, "does not end with E"),
        ("a {\n  b = [1}\n}", 2, "`,` or `]` expected"),
        ("a = 1\n", 1, "a label or `{` expected"),
        ("{}", 1, "a block expected"),
        ("/* a", 1, "the comment does not end"),
        ("a { b = " + "[" * 200, 1, "more than 100"),
        ("a {" * 200, 1, "more than 100"),
    ],
)
def test_what_is_no_hcl_is_a_fault_at_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(HclFault) as caught:
        list(read_blocks(text))
    assert caught.value.line == line and why in str(caught.value)
