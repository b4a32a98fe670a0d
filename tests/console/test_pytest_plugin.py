"""The pytest plug-in, by running pytest on baselines: what passes, what fails, and what is never a pass."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from elrcheck import pytest_plugin
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.catalogue import kafka_partition
from elrcheck.checking import check
from elrcheck.invariants import modules
from support.places import protocol

pytest_plugins = ["pytester"]
PLUGIN = ("-p", "elrcheck.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
HEAD = 'schema = "elrcheck.baseline/1"\n'


@pytest.fixture(scope="module", autouse=True)
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Imports all that a search imports: a pytest inside this one forgets its imports, numpy fails twice."""
    selection = Selection("legacy", "two-brokers")
    with pytest.MonkeyPatch.context() as patch:
        for module in (modules, kafka_partition):
            patch.setattr(module, "load_whole_model", functools.cache(modules.load_whole_model))
        check.run_check(CheckRequest(selection, ("P-1",), run_dir=tmp_path_factory.mktemp("run")), Silent())
        yield


def entry(name: str, variant: str, properties: str, rest: str = "", expected: str = "") -> str:
    """An entry; expected: lines of its table of properties, for which the other tables are made up."""
    text = f'[entry.{name}]\nvariant = "{variant}"\nscope = "two-brokers"\nproperties = {properties}\n{rest}\n'
    if expected:
        text += (
            f'[entry.{name}.expected]\nverdict = "holds"\ngenerated = 1\ndistinct = 1\ndiameter = 1\n'
            f"cut = 0\ndeadlocks = 0\n[entry.{name}.expected.properties]\n{expected}\n"
        )
    return text


def run(pytester: pytest.Pytester, *entries: str, options: tuple[str, ...] = ()) -> pytest.RunResult:
    (pytester.path / "elrcheck-baseline.toml").write_text(HEAD + "".join(entries), encoding="utf-8")
    return pytester.runpytest_inprocess(*PLUGIN, *options)


def test_one_test_for_each_property_and_one_search_for_each_configuration(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []
    search = pytest_plugin.Configuration._search
    monkeypatch.setattr(pytest_plugin.Configuration, "_search", lambda self: searched.append(self.name) or search(self))
    entries = (entry("new", "kip_full", '["P-1", "P-2", "W-2"]'), entry("old", "kip_full", '["P-8"]'))
    result = run(pytester, *entries, options=("-v",))
    result.assert_outcomes(passed=3, skipped=1)
    result.stdout.fnmatch_lines(["*elrcheck-baseline.toml::new::P-1 PASSED*"])
    assert searched == ["new", "old"]


def test_a_violation_shows_conjunct_broker_and_trace(pytester: pytest.Pytester) -> None:
    result = run(pytester, entry("old", "legacy", '["P-1", "P-3"]'))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*old: P-1*",
            "*FAIL  P-1 LeaderCompleteness  violated at depth 9*",
            "*conjunct  leader_holds_committed",
            "*witness   b=0",
            "*step 1    Fence(b=1)*",
            "*isr: {0,1} -> {0}*",
            "*repro*",
        ]
    )
    assert "Traceback" not in result.stdout.str() and "pytest_plugin.py" not in result.stdout.str()


def test_a_violation_that_the_baseline_expects_is_an_expected_failure(pytester: pytest.Pytester) -> None:
    expected = '"P-1" = "violated at depth 9"\n"P-2" = "violated at depth 3"\n"P-3" = "violated at depth 2"'
    result = run(pytester, entry("old", "legacy", '["P-1", "P-2", "P-3"]', expected=expected), options=("-rx",))
    result.assert_outcomes(xfailed=1, failed=2)
    result.stdout.fnmatch_lines(["*P-2 * violated at depth 7; the baseline expects violated at depth 3*"])
    result.stdout.fnmatch_lines(["*P-3 * holds; the baseline expects violated at depth 2*"])


def test_a_limit_is_no_pass(pytester: pytest.Pytester) -> None:
    """Not even where the baseline expects the limit to be met."""
    recorded = entry("b", "kip_full", '["P-1"]', "max-depth = 2", '"P-1" = "inconclusive"')
    result = run(pytester, entry("a", "kip_full", '["P-1"]', "max-depth = 2"), recorded)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "P-1 LeaderCompleteness is inconclusive, which is not a pass: *stopped by --max-depth 2*",
            "Raise the limit of entry `a` (*elrcheck-baseline.toml:2)*",
        ]
    )


def test_a_property_or_witness_that_the_baseline_knows_and_the_run_does_not(pytester: pytest.Pytester) -> None:
    expected = '"P-1" = "holds"\n"P-99" = "holds"\n"W-1" = "reached at depth 3"\n"W-2" = "unreached"'
    result = run(pytester, entry("a", "legacy", '["P-3", "W-1", "W-2"]', expected=expected))
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(["P-99: the baseline expects holds; there is no such property"])
    result.stdout.fnmatch_lines(["W-1 *: unreached; the baseline expects reached at depth 3*"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD, "*has no entries: nothing would be checked"),
        (HEAD + '[suite.s]\nonly = ["pairs"]\n', "*nothing would be checked, since `elrcheck gate` runs its suites"),
        (HEAD + entry("a", "kip_full", '["P-1x"]'), "*unknown property `P-1x`*"),
        ("schema = 3\n", "*error?baseline?: `schema`: expected elrcheck.baseline/1*"),
    ],
)
def test_a_mistake_in_the_baseline_is_an_error_in_words(pytester: pytest.Pytester, text: str, says: str) -> None:
    (pytester.path / "a.elrcheck.toml").write_text(text, encoding="utf-8")
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([says])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize("number", ["-3", "0", "two"])
def test_a_number_of_threads_is_positive(pytester: pytest.Pytester, number: str) -> None:
    result = run(pytester, entry("a", "kip_full", '["P-1"]'), options=(f"--elrcheck-workers={number}",))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"expected a whole number, 1 or more, not '{number}'" in result.stderr.str()


def test_an_unknown_variant_fails_in_words(pytester: pytest.Pytester) -> None:
    result = run(pytester, entry("a", "kip_ful", '["P-1", "P-2"]'))
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["error?unknown-variant?: unknown variant `kip_ful`", "*did you mean `kip_full`?"])


def test_other_files_are_left_alone_unless_they_are_named(pytester: pytest.Pytester) -> None:
    file = pytester.path / "mine.toml"
    file.write_text(HEAD + entry("a", "kip_full", '["P-1"]'), encoding="utf-8")
    assert pytester.runpytest_inprocess(*PLUGIN).ret == pytest.ExitCode.NO_TESTS_COLLECTED
    pytester.runpytest_inprocess(*PLUGIN, "--collect-only", file).assert_outcomes()
    (pytester.path / "pytest.ini").write_text("[pytest]\nelrcheck_files = mine.toml\n", encoding="utf-8")
    pytester.runpytest_inprocess(*PLUGIN, "--elrcheck-workers", "1").assert_outcomes(passed=1)


@pytest.mark.slow
def test_workers_of_xdist_share_one_search(pytester: pytest.Pytester) -> None:
    """Both workers get tests of the one configuration; each search says so in a file."""
    (pytester.path / "conftest.py").write_text(
        "import os, pathlib\nfrom elrcheck import pytest_plugin as plugin\n"
        "search = plugin.Configuration._search\n"
        "def noted(self):\n"
        "    with open('searches', 'a') as file: print(os.getpid(), file=file)\n"
        "    return search(self)\n"
        "plugin.Configuration._search = noted\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'call' and hasattr(report, 'node'):\n"
        "        with open('ran', 'a') as file: print(report.node.gateway.id, file=file)\n",
        encoding="utf-8",
    )
    text = HEAD + entry("a", "kip_full", '["P-*"]')
    (pytester.path / "elrcheck-baseline.toml").write_text(text, encoding="utf-8")
    result = pytester.runpytest_subprocess(*PLUGIN, "-n", "2", "--dist", "load")
    safety = [fn for fn in modules.load_checked_model().always if fn.ident.startswith("P-")]
    result.assert_outcomes(passed=len(safety))
    assert set((pytester.path / "ran").read_text().split()) == {"gw0", "gw1"}
    assert len((pytester.path / "searches").read_text().split()) == 1


def test_a_run_that_does_not_ask_for_it_imports_nothing(tmp_path: Path) -> None:
    """Not announced to pytest, and light even when it is loaded."""
    from importlib.metadata import entry_points

    assert not [entry for entry in entry_points(group="pytest11") if "elrcheck" in entry.value]
    listed = "sorted(name for name in sys.modules if name.split('.')[0] == 'elrcheck')"
    script = f"import sys, elrcheck.pytest_plugin\nprint({listed})"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['elrcheck', 'elrcheck.pytest_plugin']"


def test_an_entry_of_a_model_runs_if_the_settings_of_pytest_name_it(pytester: pytest.Pytester) -> None:
    shutil.copy(protocol("two_phase"), pytester.path)
    two = '[entry.two]\nvariant = "two_phase"\nscope = "default"\nmodel = "two_phase.py"\nproperties = ["P-1"]\n'
    result = run(pytester, two)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*error?model-not-named?: *two_phase.py*", "*`model` in *, or `elrcheck_models` in*"])
    result = run(pytester, two, options=("-o", "elrcheck_models=two_phase.py", "-v"))
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*elrcheck-baseline.toml::two::P-1 PASSED*"])
    for settings in ('model = "two_phase.py"\n', '[gate]\nmodel = ["other.py", "two_phase.py"]\n'):
        (pytester.path / "elrcheck.toml").write_text(settings)
        run(pytester, two).assert_outcomes(passed=1)
