"""The command line around the jobs: exit codes, streams, defaults, and what --help imports.

The jobs themselves are replaced by stand-ins, so these tests say nothing about searching or proving.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elrcheck import __version__
from elrcheck.base.errors import EnvironmentFault, ExitCode, NothingChecked, UsageFault
from elrcheck.base.proof_requests import ProveRequest, TlcRequest
from elrcheck.base.requests import CheckRequest
from elrcheck.lang.source import ModelError
from elrcheck.results.check_report import CheckReport, EngineReport, SearchReport
from support.invoked import Invoke

REPORT = CheckReport(
    verdict="violated",
    variant="kip_full",
    scope="two-brokers",
    config={},
    engine=EngineReport("local"),
    search=SearchReport(True, 10, 5, 2, (1, 4), 0.1, 50.0, 8),
    properties=(),
)
HEAVY = {"pyspark", "pyarrow", "z3", "numba", "llvmlite", "networkx", "numpy", "jinja2", "pandas", "rich", "msgspec"}
Job = Callable[[str, str, Any], list[Any]]


def command(*argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The real process, for what only a process can show."""
    whole = [sys.executable, "-m", "elrcheck", *argv]
    return subprocess.run(whole, capture_output=True, text=True, timeout=60, **options)


# --------------------------------------------------------------------------------- imports


def test_help_imports_nothing_heavy() -> None:
    source = (
        "import sys\nfrom elrcheck.cli import cli\nfrom elrcheck.console.shell import run\n"
        "code = run(cli, ['--help'])\n"
        "print('MODULES', code, *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=60)
    code, *loaded = done.stdout.split("MODULES ")[1].split()
    assert code == "0"
    assert not HEAVY & set(loaded)


def test_every_command_is_listed_with_a_summary(invoke: Invoke) -> None:
    code, out, err = invoke("--help")
    assert (code, err) == (0, "")
    names = "check simulate explore prove export tlc what-if list show doctor completion"
    for name in names.split():
        assert any(line.split()[:1] == [name] and len(line.split()) > 2 for line in out.splitlines())
    assert "130 interrupted" in out


def test_version(invoke: Invoke) -> None:
    assert invoke("--version") == (0, f"elrcheck {__version__}\n", "")


# --------------------------------------------------------------------------- usage mistakes


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (["chekc"], "usage-unknown-command", "did you mean `check`?"),
        (["export", "spek"], "usage-unknown-command", "did you mean `spec`?"),
        (["check", "--varient", "x"], "usage-unknown-option", "--variant"),
        (["check", "--format", "xml"], "usage-bad-value", "'text', 'json'"),
        (["mutate", "--format", "sarif"], "usage-bad-value", "'junit'"),
        (["tlc", "--count", "-o", "a.xml"], "usage-bad-value", "no format junit here"),
        (["check", "--engine", "quantum"], "usage-bad-value", "reference"),
        (["check", "--workers", "0"], "usage-bad-value", "auto"),
        (["check", "--max-depth", "0"], "usage-bad-value", "0"),
        (["check", "--time-budget", "soon"], "usage-bad-value", "90s"),
        (["check", "--memory", "much"], "usage-bad-value", "4GiB"),
        (["check", "-o", "nowhere/report.json"], "usage-bad-value", "no folder"),
        (["check", "extra"], "usage", "extra"),
        (["export", "spec"], "usage-missing", "--out"),
        (["export", "trace", "--out", "d"], "usage-missing", "PATH or --repro"),
        (["export", "trace", "t.json", "--repro", "0", "--out", "d"], "usage-missing", "PATH or --repro"),
        (["tlc"], "usage-missing", "--count"),
        (["list", "colours"], "usage-bad-value", "variants"),
        (["--config", "none.toml", "check"], "config-unreadable", "none.toml"),
    ],
)
def test_usage_mistakes_exit_with_2(invoke: Invoke, argv: list[str], code: str, words: str) -> None:
    exit_code, out, err = invoke(*argv)
    assert (exit_code, out) == (2, "")
    assert err.startswith(f"error[{code}]: ")
    assert words in err
    assert "Traceback" not in err


# -------------------------------------------------------------------------------- requests


def test_check_asks_for_what_the_options_say(invoke: Invoke, job: Job) -> None:
    calls = job("elrcheck.checking.check", "run_check", REPORT)
    invoke(
        "check",
        "--variant",
        "legacy",
        "--scope",
        "s.toml",
        "--set",
        "a=1",
        "--set",
        "b=2",
        "-p",
        "P-*",
        "-p",
        "W-1",
        "--engine",
        "reference",
        "--workers",
        "3",
        "--max-depth",
        "4",
        "--max-states",
        "5",
        "--time-budget",
        "1h30m",
        "--memory",
        "2GiB",
        "--stop-at-first",
        "--run-dir",
        "r",
    )
    request: CheckRequest = calls[0][0]
    assert (request.selection.variant, request.selection.scope) == ("legacy", "s.toml")
    assert request.selection.overrides == ("a=1", "b=2")
    assert request.properties == ("P-*", "W-1")
    assert (request.engine, request.workers, request.stop_at_first) == ("reference", 3, True)
    assert (request.limits.max_depth, request.limits.max_states) == (4, 5)
    assert (request.limits.time_budget, request.limits.memory) == (5400.0, 2 * 1024**3)
    assert request.run_dir == Path("r")


def test_no_option_asks_for_the_defaults(invoke: Invoke, job: Job) -> None:
    calls = job("elrcheck.checking.check", "run_check", REPORT)
    invoke("check")
    assert calls[0][0] == CheckRequest(kept=True)


def test_option_beats_environment_beats_file(
    invoke: Invoke, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = job("elrcheck.checking.check", "run_check", REPORT)
    (tmp_path / "elrcheck.toml").write_text("[check]\nmax-depth = 1\nmax-states = 1\nscope = 'file'\n")
    monkeypatch.setenv("ELRCHECK_CHECK_MAX_DEPTH", "2")
    monkeypatch.setenv("ELRCHECK_CHECK_MAX_STATES", "2")
    monkeypatch.setenv("ELRCHECK_CHECK_SET", "min_isr=1 crashes=0")
    invoke("check", "--max-depth", "3")
    request: CheckRequest = calls[0][0]
    assert (request.limits.max_depth, request.limits.max_states, request.selection.scope) == (3, 2, "file")
    assert request.selection.overrides == ("min_isr=1", "crashes=0")


def test_prove_and_tlc_ask_for_what_the_options_say(invoke: Invoke, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = job("elrcheck.proving.prove", "run_prove", REPORT)
    runs = job("elrcheck.commands.export", "run_tlc", REPORT)
    invoke("prove", "-p", "P-1", "--timeout", "30s", "--workers", "auto")
    monkeypatch.setenv("TLA2TOOLS_JAR", "tla.jar")
    invoke("tlc", "runs/a", "--timeout", "1m")
    assert proofs[0][0] == ProveRequest(properties=("P-1",), timeout=30.0)
    assert runs[0][0] == TlcRequest(run=Path("runs/a"), jar=Path("tla.jar"), timeout=60.0)


def test_exports_print_the_files_they_wrote(invoke: Invoke, job: Job) -> None:
    written = (Path("d/A.tla"), Path("d/A.cfg"))
    calls = job("elrcheck.commands.export", "export_spec", written)
    assert invoke("export", "spec", "--out", "d") == (0, "d/A.tla\nd/A.cfg\n", "")
    assert calls[0][1] == Path("d")
    calls = job("elrcheck.commands.export", "export_trace", written)
    invoke("export", "trace", "t.json", "-f", "itf", "--out", "d")
    path, repro, _, form, out = calls[0]
    assert (path, repro, form, out) == (Path("t.json"), None, "itf", Path("d"))


# ------------------------------------------------------------------------------- exit codes


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (UsageFault("unknown-variant", "unknown variant `x`"), 2),
        (EnvironmentFault("no-java", "no Java"), 4),
        (NothingChecked("no-property", "no property matches"), 5),
        (KeyboardInterrupt(), 130),
        (MemoryError(), 4),
        (OSError(28, "No space left on device", "f"), 4),
    ],
)
def test_failures_have_their_exit_code(invoke: Invoke, job: Job, fault: BaseException, code: int) -> None:
    job("elrcheck.checking.check", "run_check", fault)
    exit_code, out, err = invoke("check")
    assert (exit_code, out) == (code, "")
    assert "Traceback" not in err
    assert err.strip()


BUGS = [RuntimeError("odd"), KeyError("odd"), EOFError("odd"), OSError(2, "odd", "f")]


@pytest.mark.parametrize("fault", BUGS, ids=repr)
def test_a_bug_exits_with_70_and_leaves_a_report(invoke: Invoke, job: Job, fault: Exception, tmp_path: Path) -> None:
    job("elrcheck.checking.check", "run_check", fault)
    code, out, err = invoke("check")
    assert (code, out) == (70, "")
    assert "error[internal]" in err and "Traceback" not in err
    (crash,) = tmp_path.glob(".elrcheck/bug-report-*.txt")
    assert str(crash.relative_to(tmp_path)) in err
    assert "Traceback" in crash.read_text() and __version__ in crash.read_text()


def test_a_mistake_in_the_model_is_no_bug_of_ours(invoke: Invoke, job: Job) -> None:
    refused = ModelError("in action Fence: no loops", where="model/a.py:7", excerpt="while x:\n^^^^^")
    job("elrcheck.checking.check", "run_check", refused)
    code, out, err = invoke("check")
    assert (code, out) == (2, "")
    assert err.splitlines()[:4] == [
        "error[model-source]: in action Fence: no loops",
        "  --> model/a.py:7",
        "   | while x:",
        "   | ^^^^^",
    ]


def test_exit_zero_hides_a_finding_and_nothing_else(invoke: Invoke, job: Job) -> None:
    job("elrcheck.checking.check", "run_check", REPORT)
    assert invoke("check")[0] == ExitCode.FINDING
    assert invoke("check", "--exit-zero")[0] == 0
    job("elrcheck.checking.check", "run_check", UsageFault("word", "message"))
    assert invoke("check", "--exit-zero")[0] == 2


# ---------------------------------------------------------------------------------- output


def test_stdout_is_the_report_and_stderr_the_progress(invoke: Invoke, job: Job) -> None:
    def noisy(request: CheckRequest, progress: Any, _: object) -> CheckReport:
        progress.stage("compiling")
        return REPORT

    job("elrcheck.checking.check", "run_check", noisy)
    code, out, err = invoke("check", "-f", "json", progress=True)
    assert (code, err) == (1, "compiling\n")
    assert json.loads(out)["verdict"] == "violated"
    assert invoke("-q", "check", "-f", "json")[2] == ""
    assert invoke("--no-progress", "check")[2] == ""


def test_output_files_do_not_silence_the_terminal(invoke: Invoke, job: Job, tmp_path: Path) -> None:
    job("elrcheck.checking.check", "run_check", REPORT)
    out = invoke("check", "-o", "a.json", "-o", "b.txt", "-o", "json:c")[1]
    assert out.startswith("VIOLATED")
    assert (tmp_path / "b.txt").read_text(encoding="utf-8") == out
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["schema"] == "elrcheck.report/1"
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    whole = f"{sys.executable} -m elrcheck completion bash | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", whole], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout_is_an_environment_fault(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        whole = [sys.executable, "-m", "elrcheck", "completion", "bash"]
        done = subprocess.run(whole, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr == (
        "error[system]: No space left on device\n  --> standard output\n   = help: free some space on its disk\n"
    )


def test_the_process_exits_as_the_commands_say(tmp_path: Path) -> None:
    assert command("--version", cwd=tmp_path).returncode == 0
    wrong = command("check", "--nope", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")


# --------------------------------------------------------------------- list, show, completion

ENTRIES = [{"name": "kip_full", "summary": "as intended"}, {"name": "legacy", "summary": "before"}]


def test_list_and_show(invoke: Invoke, job: Job) -> None:
    job("elrcheck.catalogue.lookup", "entries", ENTRIES)
    code, out, _ = invoke("list", "variants")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line] == ["name", "kip_full", "legacy"]
    assert json.loads(invoke("list", "variants", "-f", "json")[1]) == ENTRIES
    calls = job("elrcheck.catalogue.lookup", "find", {"name": "P-1", "doc": "one\ntwo"})
    code, out, _ = invoke("show", "P-1", "--kind", "properties")
    assert (code, calls) == (0, [("P-1", "properties", None)])
    assert out.splitlines()[1:] == ["doc:", "    one", "    two"]


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(invoke: Invoke, name: str) -> None:
    code, out, _ = invoke("completion", name)
    assert code == 0
    assert "_ELRCHECK_COMPLETE" in out


def test_an_error_names_the_variable_or_the_settings_file_that_a_name_is_from(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the environment, of the settings; on the command line the user sees it."""
    monkeypatch.setenv("ELRCHECK_CHECK_VARIANT", "nope")
    assert "unknown variant `nope`\n  --> ELRCHECK_CHECK_VARIANT\n" in invoke("check")[2]
    assert "unknown variant `none`\n   = help" in invoke("check", "--variant", "none")[2]
    (tmp_path / "elrcheck.toml").write_text('[check]\nscope = "nope"\n')
    code, out, err = invoke("check", "--variant", "legacy")
    assert (code, out) == (2, "") and "unknown scope `nope`\n  --> the settings file\n" in err
