"""Every verb takes any model, or says that it is about Kafka's partition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from elrcheck.cli import cli
from elrcheck.console.verb import FromFunction
from support.invoked import Invoke


def verbs(command: click.Command, above: click.Context | None = None) -> Iterator[tuple[str, FromFunction]]:
    """Yield every verb with its whole name, also those below others."""
    context = click.Context(command, info_name=command.name, parent=above)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from verbs(below, context)
    if isinstance(command, FromFunction):
        yield context.command_path, command


VERBS = dict(verbs(cli))


def options(command: click.Command) -> set[str]:
    return {option for part in command.params for option in part.opts}


def test_a_verb_with_a_variant_takes_a_model_or_is_of_kafka() -> None:
    taking = {name: options(command) for name, command in VERBS.items()}
    assert sum("--variant" in one for one in taking.values()) > 15
    wrong = [n for n, one in taking.items() if "--variant" in one and "--model" not in one and not VERBS[n].of_kafka]
    assert wrong == []
    both = [name for name, one in taking.items() if "--model" in one and VERBS[name].of_kafka]
    assert both == [], "a verb that says it is about Kafka takes no model"


def test_names_that_are_of_no_model_or_of_kafka(invoke: Invoke, tmp_path: Path) -> None:
    """A model that is only a default of the settings file hides no error code, format or finding."""
    assert invoke("new", "lock")[0] == 0
    for words in ("list errors", "list formats", "show cannot-write", "show sarif", "show ISR"):
        assert invoke(*words.split(), "--model", "lock.py")[0] == 0, words
    assert "findings are about Kafka's partition" in invoke("list", "findings", "--model", "lock.py")[2]
    assert invoke("show", "F-20", "--model", "lock.py")[0] == 2
    (tmp_path / "elrcheck.toml").write_text('model = "lock.py"\n')
    assert "MutualExclusion" in invoke("list", "properties")[1] and "MutualExclusion" in invoke("show", "P-1")[1]
    assert "F-20" in invoke("list", "findings")[1] and "F-20" in invoke("show", "F-20")[1]
    code, _, err = invoke("show", "Entr")
    assert code == 2 and "there is no `Entr` in lock.py" in err and "did you mean `Enter`?" in err


@pytest.mark.parametrize("verb", ["check", "sweep --sweep processes=1", "config check"])
def test_reductions_are_those_of_kafkas_partition(verb: str, invoke: Invoke) -> None:
    assert invoke("new", "lock")[0] == 0
    code, _, err = invoke(*verb.split(), "--model", "lock.py", "--reduce")
    assert code == 2 and "--reduce merges states of Kafka's partition, and lock.py is not a copy of it" in err


@pytest.mark.parametrize("name", sorted(name for name, command in VERBS.items() if command.of_kafka))
def test_a_verb_of_kafka_says_so(name: str, invoke: Invoke) -> None:
    code, _, err = invoke(*name.split()[1:], "--model", "lock.py")
    assert code == 2 and f"`{name}` is about Kafka's partition, and takes no other model" in err
