"""Wrong use, in a table: the exit code, the message, its remedy, no stack trace, nothing half-written.

Each row is one command in a folder that holds the files of `FILES` and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run

BINARY = bytes(range(256)) * 4
FILES: dict[str, bytes] = {
    "binary": BINARY,
    "empty": b"",
    "broken.toml": b"[sizes]\nbroker_count = 2\nmin_isr =\n",
    "settings.toml": b"[check]\nscop = 'two-brokers'\n",
    "baseline.toml": (b"schema = 'elrcheck.baseline/1'\n[entry.a]\nvariant = 'kip_ful'\nscope = 'two-brokers'\n"),
    "grid.toml": b"[axis]\nmin_isr = [1]\n",
    "cut.json": b'{"schema": "elrcheck.trace/1", "variant": "legacy", "st',
    "file/inside": b"",
    "other.json": (
        b'{"schema": "elrcheck.trace/1", "variant": "legacy", "scope": "two-brokers", "overrides": {"min_isr": -5},'
        b' "property": "", "steps": [], "states": [{}]}'
    ),
}
SMALL = ("--scope", "two-brokers-quiet", "--variant", "legacy", "--set", "shrinks=1")


@dataclass(frozen=True)
class Wrong:
    """A command, how it must end, and what its message must have; words[-1] is (part of) the remedy."""

    argv: str
    code: int
    words: tuple[str, ...]


def wrong(argv: str, code: int, *words: str) -> object:
    return pytest.param(Wrong(argv, code, words), id=argv or "nothing")


TABLE = [
    # names that do not exist
    wrong("check --variant kip_ful", 2, "unknown-variant", "did you mean `kip_full`"),
    wrong("check --scope two-broker", 2, "two-broker", "did you mean `two-brokers`"),
    wrong("check --set crashs=1", 2, "crashs", "did you mean `crashes`"),
    wrong("check --set crashes", 2, "override-bad-form", "KEY=VALUE"),
    wrong("check --set min_isr=0", 2, "`min_isr`", "1 or more"),
    wrong("check --set broker_count=99", 2, "broker_count", "1 to 8"),
    wrong("explain cut.json --property P-1", 2, "cut.json"),
    wrong("prove --scope two-brokers -p V-1", 2, "unknown property `V-1`", "--liveness proves liveness properties"),
    wrong("mutate --hazard F-999", 2, "unknown-hazard", "help"),
    wrong("mutate --action Regster", 2, "Regster", "did you mean `Register`"),
    wrong("show strict_hvm", 2, "strict_hvm", "did you mean `strict_hwm`"),
    wrong("show replication.factor", 2, "there is no `replication.factor`", "set `broker_count`"),
    wrong("show P-1 --kind colours", 2, "usage-bad-value", "'variants'"),
    wrong("scenario nothing", 2, "there is no `nothing`", "`elrcheck list scenarios` lists the names"),
    wrong("config chekc", 2, "chekc", "did you mean `check`"),
    wrong("trace shwo cut.json", 2, "shwo", "show"),
    wrong("runs cleen", 2, "cleen", "clean"),
    wrong("completion tcsh", 2, "tcsh", "'zsh'"),
    wrong("list", 2, "missing argument: choose from: variants, scopes"),
    wrong("assess --kafka 4.1 --replication-factor 32768", 2, "1<=x<=32767", "assess --help"),
    wrong("assess --kafka 4.1 --log empty", 2, "log-empty", "--> empty"),
    # values out of range
    wrong("check --max-states 0", 2, "--max-states", "see `elrcheck check --help`"),
    wrong("check --time-budget -5s", 2, "-5s", "90s"),
    wrong("check --fingerprint 63", 2, "--fingerprint", "64"),
    wrong("simulate --seed one", 2, "'one' is not a whole number", "see `elrcheck simulate --help`"),
    wrong("simulate --depth 0", 2, "--depth", "see `elrcheck simulate --help`"),
    wrong("prove --controller --brokers 0", 2, "--brokers", "see `elrcheck prove --help`"),
    wrong("trace sample --seed -1", 2, "--seed", "see `elrcheck trace sample --help`"),
    wrong("runs clean --older-than yesterday", 2, "yesterday", "see `elrcheck runs clean --help`"),
    # options that do not go together
    wrong("trace show", 2, "usage-missing", "FILE or --repro"),
    wrong("trace show --repro a/b", 2, "a/b", "0/3/1"),
    wrong("sweep --variant legacy --sweep variant=*", 2, "sweep-twice", "leave out --variant"),
    wrong("sweep --sweep colours=1..3", 2, "colours", "help"),
    wrong("sweep --sweep min_isr=3..x", 2, "3..x", "min_isr"),
    wrong("check --master local[2]", 2, "--master", "--engine spark"),
    wrong("check --liveness --stop-at-first", 2, "liveness-option", "safety properties"),
    wrong("check --resume file --run-dir here", 2, "--resume", "leave out --run-dir"),
    wrong("explore --graph states.png", 2, "states.png", "graphml"),
    # files that are not what is expected
    wrong("--config broken.toml check", 2, "broken.toml:3", "not valid TOML"),
    wrong("--config settings.toml check", 2, "settings.toml:2", "did you mean `scope`"),
    wrong("--config binary check", 2, "binary", "not UTF-8 text"),
    wrong("--config file check", 2, "cannot read the file", "directory"),
    wrong("check --scope broken.toml", 2, "broken.toml:3", "not valid TOML"),
    wrong("check --scope ./binary", 2, "binary", "not UTF-8 text"),
    wrong("gate --baseline baseline.toml", 2, "baseline.toml:2 (a)", "did you mean `kip_full`"),
    wrong("gate --baseline binary", 2, "binary", "not UTF-8 text"),
    wrong("gate --baseline none.toml", 2, "none.toml", "--add"),
    wrong("sweep --grid grid.toml", 2, "grid.toml", "axis"),
    wrong("sweep --grid binary", 2, "binary", "not UTF-8 text"),
    wrong("trace show other.json", 2, "`min_isr`: expected a whole number", "--> other.json: --set min_isr=-5"),
    wrong("replay other.json --variant nope", 2, "unknown variant `nope`\n   = help"),
    wrong("trace show binary", 2, "binary", "not UTF-8 text"),
    wrong("explain binary", 2, "binary", "not UTF-8 text"),
    wrong("trace diff cut.json cut.json", 2, "cut.json:1", "not valid JSON"),
    wrong("export trace binary --out out", 2, "binary", "not UTF-8 text"),
    wrong("replay binary", 2, "binary", "not UTF-8 text"),
    wrong("conform --answers none.xz", 2, "answers-damaged", "--> none.xz", "`packaged`"),
    wrong("replay empty", 5, "empty-trace", "the file is empty"),
    wrong("replay file", 2, "no stored trace in file", "--run-dir"),
    wrong("trace minimise none.json", 2, "none.json", "No such file"),
    wrong("check --resume file", 2, "file", "help"),
    wrong("check --run-dir empty", 2, "empty"),
    # places where nothing can be written
    wrong("reproduce F-20 --kafka 4.1.1 --patience nan", 2, "is not a number"),
    wrong("check -o report.csv", 2, "no format csv here", "choose from text, json"),
    wrong("sweep --sweep crashes=0 -o report.xml", 2, "no format junit here", "choose from text, json, csv"),
    wrong("check -o empty/report.json", 2, "no folder", "see `elrcheck check --help`"),
    wrong("trace sample --save empty/walk.json --depth 2", 4, "cannot-write", "empty"),
    wrong("export spec --out empty", 2, "is a file", "see `elrcheck export spec --help`"),
    wrong("init -C empty", 2, "empty"),
    wrong("check --run-dir /proc/nowhere", 4, "cannot-write", "/proc/nowhere", "name another: --run-dir DIR"),
    wrong("export spec --out /proc/nowhere", 4, "cannot-write", "/proc/nowhere"),
    wrong("model fork /proc/nowhere", 4, "cannot-write", "/proc/nowhere"),
]
Invoke = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def invoke(
    no_settings: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Invoke:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)

    def call(argv: str) -> tuple[int, str, str]:
        code = run(cli, ["--no-progress", *argv.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.mark.parametrize("case", TABLE)
def test_it_is_refused_with_a_remedy(invoke: Invoke, tmp_path: Path, case: Wrong) -> None:
    code, out, err = invoke(case.argv)
    assert (code, out) == (case.code, ""), err
    assert err.startswith("error[") and "Traceback" not in err
    for words in case.words:
        assert words in err
    assert contents(tmp_path) == FILES, "nothing written, nothing changed"


def test_there_are_thirty_kinds() -> None:
    assert len(TABLE) >= 30
