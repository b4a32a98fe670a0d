"""Options declared in requests: each field has one, and the command line and Python accept the same values."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import elrcheck
from elrcheck.base import kafka_requests, proof_requests, requests
from elrcheck.base.option import MISSING, Declared, Option, make, options_of, unwrap
from elrcheck.base.proof_requests import CertificateRequest, GateRequest, MutateRequest
from elrcheck.base.requests import CheckRequest, Limits, Selection, SparkRequest
from elrcheck.console.click_options import click_parameter, values_of


def requests_of(module: ModuleType) -> list[Any]:
    return [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
    ]


REQUESTS = [kind for module in (requests, proof_requests, kafka_requests) for kind in requests_of(module)]


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_each_field_is_an_option_with_a_sentence_or_a_request(kind: Any) -> None:
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        inner, option = unwrap(hints[field.name])
        if option is None or (inner in REQUESTS and not option.help):
            assert inner in REQUESTS, field.name
        elif not option.argument:
            several = next((one.several for one in options_of(kind) if one.name == field.name), False)
            assert option.help, field.name
            assert option.help.endswith(".") != (several and option.kind != "list"), field.name


def test_options_of_requests_inside_stand_in_their_places() -> None:
    names = [one.name for one in options_of(CheckRequest)]
    assert names[:6] == ["variant", "scope", "overrides", "model", "patch", "properties"]
    assert names.index("max_depth") < names.index("stop_at_first") < names.index("master")
    assert "kept" not in names and "verbose" not in names, "the verb fills them in"
    assert "spark" in [one.name for one in options_of(CheckRequest, whole=True)]
    assert not {"name", "suite"} & {one.name for one in options_of(GateRequest)}
    scope = next(one for one in options_of(MutateRequest) if one.name == "scope")
    assert scope.default == "two-brokers"


def test_a_request_is_made_of_the_values_of_its_options() -> None:
    assert make(CheckRequest, {}) == CheckRequest()
    values = {"variant": "legacy", "max_states": 9, "master": "yarn", "workers": 2}
    assert make(CheckRequest, values) == CheckRequest(
        Selection("legacy"), workers=2, limits=Limits(max_states=9), spark=SparkRequest("yarn")
    )
    with pytest.raises(TypeError, match="folder"):
        make(CertificateRequest, {})


def test_an_option_left_out_has_the_default_of_the_field() -> None:
    fingerprint = Declared("fingerprint", requests.Fingerprint, 0, Option("Bits.", choices=(64, 128)))
    workers = Declared("workers", int, 1, Option("Processes.", kind="workers", default="auto"), optional=True)
    assert values_of([fingerprint, workers], {"fingerprint": None, "workers": None}) == {"workers": None}
    assert values_of([fingerprint], {"fingerprint": "64"}) == {"fingerprint": 64}


def test_what_click_gets_for_a_type() -> None:
    seconds = click_parameter(Declared("every", float, 300.0, Option("How often.", kind="duration")))
    assert (seconds.default, seconds.metavar, seconds.opts) == ("5m", "90s|5m|1h", ["--every"])
    switch = click_parameter(Declared("control", bool, True, Option("Control.")))
    assert (switch.opts, switch.secondary_opts) == (["--control"], ["--no-control"])
    required = click_parameter(Declared("out", Path, MISSING, Option("Folder.", kind="folder")))
    assert required.required and required.metavar == "DIR"


@pytest.mark.parametrize(
    "call",
    [
        lambda: elrcheck.prove_controller(brokers=9),
        lambda: elrcheck.simulate(depth=1_000_001),
        lambda: elrcheck.check(workers=0),
        lambda: elrcheck.check(memory=0),
        lambda: elrcheck.check(max_depth=-1),
    ],
)
def test_python_refuses_what_the_command_line_refuses(call: Any) -> None:
    with pytest.raises(elrcheck.UsageFault) as caught:
        call()
    assert caught.value.code == "usage-bad-value"


def test_python_accepts_a_search_of_the_initial_states(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[CheckRequest] = []

    def stop(request: CheckRequest, _: object) -> None:
        searched.append(request)
        raise KeyboardInterrupt

    monkeypatch.setattr("elrcheck.checking.check.run_check", stop)
    with pytest.raises(KeyboardInterrupt):
        elrcheck.check(max_depth=0)
    assert searched[0].limits == Limits(max_depth=0)
