"""Files that are none, numbers without end, names that no file has, signals: a message each, no damage."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from elrcheck.base.atomic import write_file
from elrcheck.base.caches import cache_directory
from elrcheck.base.documents import JSON_LIMIT, read_text, read_toml
from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import ProgressLines
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Codes
from elrcheck.cli import cli
from elrcheck.console.option_values import duration, size
from elrcheck.console.shell import end_as_interrupted, run
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.report.document import Case, Document, Sheet, Suite
from support.invoked import Invoke
from support.processes import ended_in_time

# ----------------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = 1" + "0" * 5000, "too many digits"),
        ("a = [{ b = 0x" + "f" * 5000 + " }]", "too many digits"),
        ("a = " + "[" * 50_000, "nested too deeply"),
        ("a = 1\x00", "not valid TOML"),
        ("a = 1979-13-45", "not valid TOML"),
    ],
    ids=["decimal", "hexadecimal", "deep", "NUL", "date"],
)
def test_toml_that_no_tool_writes(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageFault, match=says):
        read_toml(tmp_path / "a.toml")


def test_a_device_without_an_end() -> None:
    with pytest.raises(UsageFault, match="larger than 64 MiB"):
        read_toml(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["a\0b.toml", "a\ud800.toml"])
def test_names_that_no_file_has(name: str) -> None:
    with pytest.raises(UsageFault, match="not the name of a file"):
        read_toml(Path(name))


def test_settings_cannot_hold_a_nul(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "elrcheck.toml").write_text('[gate]\nbaseline = "a\\u0000b"\n')
    code, _, err = invoke("gate")
    assert code == 2 and "elrcheck.toml:2" in err and "NUL" in err


def test_json_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf{}")
    assert read_text(tmp_path / "a.json", Codes("test"), JSON_LIMIT) == "{}"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_that_powershell_has_redirected(invoke: Invoke, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.json").write_bytes('{"note": "é"}'.encode(encoding))
    code, _, err = invoke("replay", "a.json")
    assert code == 2 and "not UTF-8 text" in err and ("save it as UTF-8" in err) == (encoding == "utf-16")


# ----------------------------------------------------------------------------------- writing


def test_a_link_is_followed_and_the_mode_kept(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "argv", ["check --model a.py", "model fork copy --model a.py", "init --model a.py", "check --scope a.py.toml"]
)
def test_links_in_a_circle(invoke: Invoke, tmp_path: Path, argv: str) -> None:
    for one, other in (("a.py", "b.py"), ("b.py", "a.py"), ("a.py.toml", "a.py.toml")):
        (tmp_path / one).symlink_to(other)
    code, _, err = invoke(*argv.split())
    assert code == 2 and "a.py" in err, err


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_file(tmp_path / "pipe", "text")
    reader.join(10)
    assert received == ["text"] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_names_and_texts_at_the_limit(tmp_path: Path) -> None:
    write_file(tmp_path / ("a" * 255), "half a character: \udcff")
    assert (tmp_path / ("a" * 255)).read_text() == "half a character: \\udcff"
    with pytest.raises(EnvironmentFault, match="too long"):
        write_file(tmp_path / ("a" * 256), "")
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("check -o a.json -o junit:./a.json", "two outputs would be written to"),
        ("sweep --sweep crashes=0 -o a.csv -o json:a.csv", "two outputs would be written to"),
        ("check --scope s.toml -o s.toml", "given to both --scope and --output"),
        ("gate --baseline s.toml -o text:s.toml", "given to both --baseline and --output"),
        ("replay s.toml -o link", "given to both FILE and --output"),
        ("trace sample --save x.json -o x.json", "two outputs would be written to"),
        ("trace sample --model s.toml --save s.toml", "given to both --model and --save"),
        ("explore --model s.toml --graph link --graph-format dot", "given to both --model and --graph"),
        ("explore --scope two-brokers-quiet --graph g.dot -o g.dot", "two outputs would be written to"),
        ("model diff s.toml kafka -o text:s.toml", "s.toml is given to both A and --output"),
        ("model diff kafka s.toml@atomic -o text:link", "s.toml@atomic is given to both B and --output"),
        ("audit other.log s.toml -o text:s.toml", "given to both [PATH...] and --output"),
        ("assess --kafka 4.1 --topics s.toml -o text:link", "given to both --topics and --output"),
        ("suite --file s.toml -o text:s.toml", "given to both --file and --output"),
        ("check -o " + "a" * 300 + "/b", "no folder"),
    ],
)
def test_files_that_would_be_lost(invoke: Invoke, tmp_path: Path, argv: str, says: str) -> None:
    (tmp_path / "s.toml").write_text("crashes = 1\n")
    (tmp_path / "link").symlink_to("s.toml")
    code, out, err = invoke(*argv.split())
    assert (code, out) == (2, "") and says in err
    assert (tmp_path / "s.toml").read_text() == "crashes = 1\n" and len(os.listdir(tmp_path)) == 2


def test_one_device_takes_two_outputs(invoke: Invoke) -> None:
    code, _, err = invoke("check", "--variant", "nope", "-o", "json:/dev/null", "-o", "junit:/dev/null")
    assert code == 2 and "unknown-variant" in err and stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_disk_behind_stdout_and_stderr() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "elrcheck", "--version"]
        assert subprocess.run(command, stdout=full, stderr=full, timeout=60).returncode == 4
    with open("/dev/full", "w") as full:
        ProgressLines(full).stage("a log on a full disk ends nothing")
        with pytest.raises(OSError, match="No space"):
            full.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


@pytest.mark.parametrize(
    "argv", [("list", "scopes"), ("check", "--scope", "two-brokers-quiet"), ("what-if", "--template")]
)
def test_a_full_disk_behind_stdout_is_named(
    no_settings: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]
) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(cli, ["--no-progress", *argv]) == 4
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())
    err = capsys.readouterr().err
    assert "No space left on device" in err and "standard output" in err


def test_a_report_is_printed_although_a_file_cannot_be_written(invoke: Invoke, tmp_path: Path) -> None:
    argv = ("check", "--scope", "two-brokers-quiet", "-o", "text:/dev/full", "-o", "a.json")
    code, out, err = invoke(*argv)
    assert code == 4 and "cannot write /dev/full" in err
    assert "HOLDS  kip_full" in out and json.loads((tmp_path / "a.json").read_text())["verdict"] == "holds"


def test_a_working_directory_that_is_gone(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert invoke("list", "scopes")[0] == 0
    code, _, err = invoke("init")
    assert code == 4 and "cannot-write" in err
    code, _, err = invoke("check", "--model", "lock.py")
    assert code == 4 and "the working directory is gone" in err


# ---------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("text", ["9" * 400, "inf", "nan", "1e3", "20000d", "-1s", "1h30"])
def test_durations_that_are_none(text: str) -> None:
    with pytest.raises(click.BadParameter):
        duration(text)


@pytest.mark.parametrize("text", ["9" * 400, "99999999T", "0", "0.1", "1e9", "nan"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(click.BadParameter):
        size(text)


@pytest.mark.parametrize("key", ["crashes", "min_isr", "shrinks"])
def test_budgets_beyond_any_search(invoke: Invoke, key: str) -> None:
    code, _, err = invoke("check", "--set", f"{key}={10**17}")
    assert code == 2 and f"`{key}`: expected at most 1000" in err


# ------------------------------------------------------------------------- caches and folders


def test_caches_without_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_directory({"ELRCHECK_CACHE_DIR": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    nowhere = KernelCache({})
    nowhere.store("a", b"code")
    assert nowhere.load("a") is None


def test_a_run_folder_is_named_after_any_scope(tmp_path: Path) -> None:
    from elrcheck.checking.runs.folders import run_folder
    from elrcheck.declared.select import resolve

    scope = tmp_path / f"a b\n{'c' * 200}.toml"
    scope.write_text("crashes = 1\n")
    name = run_folder(resolve(Selection("legacy", str(scope)))).name
    assert name.startswith("legacy-a_b_ccc") and len(name) < 100


def test_junit_lines_and_github_summaries(tmp_path: Path) -> None:
    from elrcheck.base.errors import ExitCode
    from elrcheck.report.ci.github import to_github
    from elrcheck.report.ci.junit import to_junit

    case = Case("t.json", "t.json", "failed", "rejected", place="t.json")
    sheet = Sheet("a\n::error::b", (Suite("s", (case,)),))
    document = Document("replay", "rejected", ExitCode.FINDING, (), sheet)
    assert 'file="t.json" line="1"' in to_junit(document)
    assert to_github(document).splitlines()[-2] == "REJECTED  a\\n::error::b"


# ---------------------------------------------------------------------------------- signals


@pytest.fixture
def handlers() -> Iterator[None]:
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_sigterm_and_sighup_are_interrupts() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end_as_interrupted()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, "nohup asks for it"
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
        assert interrupts.requested and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.usefixtures("handlers")
def test_a_trace_that_names_another_file(invoke: Invoke, tmp_path: Path) -> None:
    document = {
        "schema": "elrcheck.trace/1",
        "variant": "legacy",
        "scope": "a\0/b.toml",
        "overrides": {},
        "property": "P-1",
        "steps": [],
        "states": [{}],
    }
    (tmp_path / "a.json").write_text(json.dumps(document))
    code, out, err = invoke("trace", "show", "a.json")
    assert (code, out) == (2, "") and "not the name of a file" in err


@pytest.mark.usefixtures("handlers")
def test_ctrl_c_while_the_solver_works_and_after_it() -> None:
    """Z3 takes the signal for itself, and Python would not be woken from a lock after that."""
    import z3

    from elrcheck.proof.obligations import ask

    solver, (x, y, z) = z3.Solver(), z3.Ints("x y z")
    solver.set("timeout", 20_000)
    solver.add(x > 1, y > 1, z > 1, x * x * x + y * y * y == z * z * z)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        ask(solver, 20_000)
    ask(z3.Solver(), 0)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        threading.Event().wait(60)


SPARK = ("--engine", "spark", "--master", "local[2]", "--handover", "1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "verdict"),
    [
        (("check", "--scope", "two-brokers"), "holds"),
        (("prove", "--controller", "-p", "CT-13", "--brokers", "1", "--workers", "1"), "proved"),
        (("prove", "--controller", "-p", "CT-13", "--brokers", "1", "--workers", "2"), "proved"),
        (("sweep", "--scope", "two-brokers-quiet", "--sweep", "crashes=0,1", "--workers", "2"), "holds"),
        pytest.param(("check", "--scope", "two-brokers-quiet", *SPARK), "holds", marks=pytest.mark.spark),
    ],
    ids=["check", "prove", "prove in processes", "sweep", "spark"],
)
def test_ctrl_c_stays_ignored(tmp_path: Path, argv: tuple[str, ...], verdict: str) -> None:
    """Under `nohup`, or in the background of a script. Z3 and PySpark have handlers of their own."""
    command = [sys.executable, "-m", "elrcheck", "--no-progress", *argv, "--format", "json"]
    process = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(0.5)  # until the shell has got to the trap
    with ended_in_time(process):
        while process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["verdict"] == verdict
