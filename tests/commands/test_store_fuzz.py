"""Files of every kind in the store are flipped, cut, exchanged, given away: no verdict changes, none fails.

First every damaged entry is read by itself, thousands of them. Then whole commands run over a store in which
all files of a kind are damaged, and answer as they do without a store.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from elrcheck.base.caches import notice
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.kept.store import FOLDER, FileStore, Store, checked
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection, SuiteRequest
from elrcheck.checking.check import run_check
from elrcheck.checking.suite import suite as suite_module
from elrcheck.checking.suite.kept_answers import KeptAnswer
from elrcheck.checking.suite.suite import run_suite
from elrcheck.declared.model_file import mark_of
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.kept_program import KeptProgram
from elrcheck.explorer.search.kept_searches import KeptSearch
from elrcheck.invariants import modules
from elrcheck.invariants.modules import load_proof_model
from elrcheck.kafka.risk.risk import run_risk
from elrcheck.kafka.risk.risk_search import KeptRisk
from elrcheck.model.protocol import load_model
from elrcheck.proving.consecution_phase import KeptProofs
from elrcheck.proving.prove import InductionProof
from support.damage import drawn, restore
from support.sweeps import check_here

ENTRIES: Mapping[str, type[Any]] = {
    "searches": KeptSearch,
    "suite": KeptAnswer,
    "risk": KeptRisk,
    "proofs": KeptProofs,
    "programs": KeptProgram,
    "kernels": bytes,
    "modules": tuple[str, ...],
    "models": str,
    "class-paths": tuple[str, ...],
}
FILES: Mapping[str, str] = {"java": ".jar", "patches": ".jar", "sources": ".jar", "archives": ".jsa"}
EACH = 300
"""Damaged entries of a kind that are read."""
RUNS = 8
"""Runs of a command over damaged files of a kind, all of that kind at once; twice as many if there is one."""
SUITE = """\
description = "small"
scope = "two-brokers-quiet"
reaches = ["W-11"]
[[configuration]]
name = "fence"
set = { fences = 1 }
[[configuration]]
name = "lossy"
set = { crashes = 2, acks_one = 1 }
"""


@dataclass
class Table:
    """Files tried by kind, read alone and below commands."""

    read: Counter[str] = field(default_factory=Counter)
    believed: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    damaged: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        yield "kind          read  believed  commands  files damaged  verdicts changed  errors"
        for kind in (*ENTRIES, *FILES, "all"):
            columns = (self.read, self.believed, self.commands, self.damaged, self.changed, self.errors)
            numbers = [sum(each.values()) if kind == "all" else each[kind] for each in columns]
            widths = (6, 10, 10, 15, 18, 8)
            yield f"{kind:12}" + "".join(f"{n:{w}}" for n, w in zip(numbers, widths, strict=True))


def check_of(*settings: str) -> Callable[[Path], object]:
    """What `check` says of a configuration, without times and ages."""

    def run(folder: Path) -> object:
        selection = Selection("kip_full", "two-brokers-quiet", settings)
        report = run_check(CheckRequest(selection, workers=1, kept=True), Silent())
        search = report.search
        return (
            report.verdict,
            int(report.exit_code),
            search.complete,
            search.generated,
            search.levels,
            [(p.id, p.verdict, p.depth, p.conjunct, p.counterexample) for p in report.properties],
            report.actions,
            report.variables,
        )

    return run


def suited(folder: Path) -> object:
    """What `suite` says; one configuration is as expected, the other has unexplained violations."""
    (folder / "small.toml").write_text(SUITE, encoding="utf-8")
    request = SuiteRequest(files=(folder / "small.toml",), workers=1, run_dir=folder / "run")
    report = run_suite(request, Silent())
    return report.verdict, [(run.name, run.verdict, run.distinct, run.generated, run.violations) for run in report.runs]


def risked(folder: Path) -> object:
    """What `risk` says of a topic that loses a record."""
    request = RiskRequest("4.1", 2, 1, events=("crash", "elect_unclean"), most=2, seconds=600, run_dir=folder / "risk")
    report = run_risk([request], Silent())
    return report.verdict, int(report.exit_code), report.answers, report.safe_up_to, report.safe_events


def proved(folder: Path) -> object:
    """What `prove` says of every step and lemma of a small configuration."""
    config = resolve(Selection("kip_full", "two-brokers", ("broker_count=1", "min_isr=1"))).config
    proof = InductionProof(load_proof_model(), config, [], 60.0, Silent())
    proof.keep(fresh=False)
    report = proof.run("kip_full")
    return report.verdict, [(cell.action, cell.lemma, cell.verdict) for cell in report.cells]


def loaded(folder: Path) -> object:
    """The model itself; other tests read it once in a process, this one always."""
    mark = mark_of(modules.CHECKED)
    model = mark.left_on(load_model(*modules.CHECKED, lazily=mark.sound))
    return model.origin, [(fn.name, fn.params, fn.line) for fn in model.fns.values()]


QUIET, LOSSY = check_of("fences=1"), check_of("crashes=2", "acks_one=1")
COMMANDS: Mapping[str, Sequence[Callable[[Path], object]]] = {
    "searches": (QUIET, LOSSY),
    "suite": (suited,),
    "risk": (risked,),
    "proofs": (proved,),
    "programs": (QUIET, LOSSY),
    "kernels": (QUIET, LOSSY),
    "modules": (QUIET, LOSSY),
    "models": (loaded,),
}


@dataclass(frozen=True)
class Filled:
    """A store with files of every kind, a copy of it, and what the commands said when there was none."""

    folder: Path
    copy: Path
    answers: Mapping[Callable[[Path], object], object]
    table: Table

    @property
    def store(self) -> Path:
        return self.folder / "cache" / FOLDER

    def files(self, kind: str) -> list[Path]:
        return sorted((self.store / kind).iterdir())


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Generator[Filled, None, None]:
    folder = tmp_path_factory.mktemp("fuzz")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELRCHECK_CACHE_DIR", str(folder / "cache"))
        patch.chdir(folder)
        patch.setattr(suite_module, "check_all", check_here)
        commands = {each for every in COMMANDS.values() for each in every}
        answers = {each: each(folder) for each in sorted(commands, key=lambda each: each.__qualname__)}
        for key in ("controller-4.1.2", "cluster-4.3.1"):
            Store("class-paths", tuple[str, ...]).put(key, tuple(f"/m2/{key}/{n}.jar" for n in range(40)))
        for kind, suffix in FILES.items():
            for number in range(3):
                data = io.BytesIO()
                with zipfile.ZipFile(data, "w") as archive:
                    archive.writestr("A.class", random.Random(number).randbytes(2_000))
                FileStore(kind, suffix).put(f"{kind} {number}", data.getvalue())
        table = Table()
        filled = Filled(folder, folder / "copy", answers, table)
        restore(filled.store, filled.copy)
        yield filled
        print("\n" + "\n".join(table.lines()))


@pytest.fixture(autouse=True)
def as_before(filled: Filled) -> None:
    restore(filled.copy, filled.store)
    notice.cache_clear()


def others(filled: Filled, file: Path) -> list[Path]:
    """Files of this kind and of others, to change places with."""
    same = [each for each in filled.files(file.parent.name) if each != file and each.suffix == file.suffix]
    return [*same, *filled.files("searches"), *filled.files("kernels")[:1]]


def assert_none_is_believed(
    filled: Filled, kind: str, keys: Sequence[str], get: Callable[[str], object], file_of: Callable[[str], Path]
) -> None:
    """Damage the file of a key, many times, and put everything back."""
    chance = random.Random(f"damaged {kind}")
    for number in range(EACH):
        key = keys[number % len(keys)]
        file = file_of(key)
        other = [each for each in others(filled, file) if each != file]
        saved = {each: each.read_bytes() for each in (file, *other)}
        if drawn(chance)(file, chance, other):
            filled.table.read[kind] += 1
            filled.table.believed[kind] += get(key) is not None
        for each, data in saved.items():
            each.unlink(missing_ok=True)
            each.write_bytes(data)
            each.chmod(0o600)
        assert get(key) is not None
    assert filled.table.read[kind] > EACH * 0.8 and filled.table.believed[kind] == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENTRIES)
def test_no_damaged_entry_is_believed(filled: Filled, kind: str) -> None:
    store: Store[Any] = Store(kind, ENTRIES[kind])
    keys = [key for key, _ in store.entries()]
    assert keys, f"the store has entries of the kind {kind}"
    assert_none_is_believed(filled, kind, keys, store.get, store.path)


@pytest.mark.parametrize("kind", FILES)
def test_no_damaged_file_is_named(filled: Filled, kind: str) -> None:
    """Neither if it is damaged itself, nor if its entry is."""
    store, chance = FileStore(kind, FILES[kind]), random.Random(kind)
    keys = [f"{kind} {number}" for number in range(3)]
    assert [store.get(key) for key in keys] == [store.path(key) for key in keys]

    def file_of(key: str) -> Path:
        path = store.path(key)
        return path if chance.random() < 0.7 else path.with_suffix("")

    assert_none_is_believed(filled, kind, keys, store.get, file_of)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMMANDS)
def test_no_damage_changes_what_a_command_says(filled: Filled, kind: str) -> None:
    chance = random.Random(f"commands {kind}")
    met = runs = 0
    for number in range(RUNS * (2 if len(filled.files(kind)) == 1 else 1)):
        restore(filled.copy, filled.store)
        files = filled.files(kind)
        for file in files:
            other = [each for each in others(filled, file) if each != file]
            filled.table.damaged[kind] += drawn(chance)(file, chance, other)
        if kind in ("kernels", "modules"):  # a kept answer needs none
            shutil.rmtree(filled.store / "searches")
        notice.cache_clear()
        _run(filled, kind, COMMANDS[kind][number % len(COMMANDS[kind])])
        met, runs = met + notice().printed, runs + 1
    assert met >= runs * 0.7, "the commands read what was damaged"
    assert (filled.table.changed[kind], filled.table.errors[kind]) == (0, 0)
    assert filled.table.damaged[kind] >= RUNS * 0.8


def _run(filled: Filled, kind: str, command: Callable[[Path], object]) -> None:
    filled.table.commands[kind] += 1
    try:
        filled.table.changed[kind] += command(filled.folder) != filled.answers[command]
    except Exception:
        filled.table.errors[kind] += 1
        raise


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system has no owners of files")
@pytest.mark.parametrize("which", [".", "searches", "kernels"])
def test_a_folder_of_others_changes_nothing_either(filled: Filled, which: str) -> None:
    """A search that another user could have put there: the kept ones of both configurations are exchanged."""
    (filled.store / which).chmod(0o777)
    for command in (QUIET, LOSSY):
        assert command(filled.folder) == filled.answers[command]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["searches", "suite", "risk", "proofs"])
def test_a_forged_number_is_no_error(filled: Filled, kind: str) -> None:
    """Digits are changed below a checksum that fits, as only this user can: what is not confirmed is refused.

    Of an answer that says how often something happened, no reader can tell that it was changed. Of the others
    the verdict stays; here it counts that no command fails.
    """
    chance = random.Random(f"forged {kind}")
    store: Store[Any] = Store(kind, ENTRIES[kind])
    for number in range(RUNS):
        restore(filled.copy, filled.store)
        for key, entry in list(store.entries()):
            store.path(key).write_bytes(_forged(kind, key, entry.value, chance))
        command = COMMANDS[kind][number % len(COMMANDS[kind])]
        command(filled.folder)


def _forged(kind: str, key: str, value: object, chance: random.Random) -> bytes:
    """An entry in which one number is another."""
    data = msgspec.json.decode(msgspec.json.encode(value))
    places = list(_numbers(data))
    holder, place = chance.choice(places)
    holder[place] = chance.choice((0, 1, 7, 10**6, -1))
    head = json.dumps({"key": key, "kind": kind, "when": 1_700_000_000}).encode()
    return checked(head + b"\n" + msgspec.msgpack.encode(data))


def _numbers(data: Any) -> Iterator[tuple[Any, Any]]:
    """Where numbers are in JSON data: the list or dictionary, and the index or key."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for place, value in pairs:
        if isinstance(value, int) and not isinstance(value, bool):
            yield data, place
        else:
            yield from _numbers(value)
