"""The words in the brackets of ``error[..]``: what each means, by the exit code it comes with.

They are stable: scripts grep for them. `elrcheck list errors` prints them; a test compares them with the
source, so none is missing and none is left over.
"""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.base.errors import ExitCode

USAGE: Mapping[str, str] = {
    # how a command is called
    "usage": "The command line cannot be understood.",
    "usage-bad-value": "An option or argument has a value that it cannot take.",
    "usage-controller": "An option is only for `prove --controller`.",
    "usage-eval": "--eval is given where no report is printed.",
    "usage-explain": "Two questions are asked of `explain` at once.",
    "usage-filter": "A part of a trace is asked for in a notation that has the whole.",
    "usage-format": "The report has no such format.",
    "usage-missing": "An option or argument is missing.",
    "usage-option": "An option does not go with the others.",
    "output-clash": "An output would overwrite another one, or what the command reads.",
    "usage-resume": "--resume and --run-dir are given together.",
    "usage-run-dir": "--run-dir is given where nothing is kept.",
    "usage-unknown-command": "There is no such command.",
    "usage-unknown-option": "The command has no such option.",
    "engine-option": "An option is not for the chosen engine.",
    "explain-liveness": "A liveness property is asked about in one state.",
    "explore-liveness": "A state graph is to be marked with a liveness property.",
    "explore-option": "An option of a graph is given without --graph.",
    "liveness-option": "An option is not for liveness properties.",
    "mixed-properties": "Liveness properties and others are chosen together.",
    "simulate-liveness": "Random walks are to check a liveness property.",
    # names
    "bad-expression": "An expression of --eval cannot be understood.",
    "ambiguous-name": "A name means several things.",
    "unknown-action": "There is no such action.",
    "unknown-entry": "The baseline has no such entry.",
    "unknown-hazard": "There is no such hazard.",
    "unknown-kind": "There is no such kind of names.",
    "unknown-knob": "There is no such knob, size or budget.",
    "unknown-leaf": "No part of the state has this name.",
    "unknown-name": "Nothing has this name.",
    "unknown-property": "There is no such property.",
    "unknown-rule": "There is no such rule of `prove --controller`.",
    "unknown-scope": "There is no such scope.",
    "unknown-variant": "There is no such variant.",
    # settings, scopes, overrides
    "config-bad-value": "A value of a settings or scope file, or a size, is not allowed.",
    "config-duplicate-key": "A key of a scope file is given twice.",
    "config-invalid": "The values of a configuration do not go together.",
    "config-missing-key": "A configuration lacks a value.",
    "config-no-table": "The file given as --config has no table [tool.elrcheck].",
    "config-not-toml": "A file is not valid TOML.",
    "config-unknown-key": "A settings, scope or grid file has an unknown key.",
    "config-unreadable": "A settings or scope file cannot be read.",
    "override-bad-form": "--set is not KEY=VALUE.",
    "override-bad-value": "--set has a value that the key cannot take.",
    # files
    "baseline": "The baseline has a mistake.",
    "checkpoint-damaged": "What a run or a sweep saved is damaged.",
    "graph-file": "The file for a graph is a folder.",
    "graph-format": "The file name does not say which format a graph should have.",
    "graph-incomplete": "The search ended early, so there is no graph of all states.",
    "graph-too-large": "There are more states than a graph may have.",
    "init-exists": "All files that `init` writes exist.",
    "itf-file": "A file is no ITF trace, or has other variables than the model.",
    "json-malformed": "The input is not the JSON that is expected.",
    "model-source": "The source of the model does not load, or a row of it names what is not there.",
    "no-baseline": "There is no baseline.",
    "no-checkpoint": "There is no run or sweep to go on with.",
    "no-folder": "There is no such folder.",
    "report-file": "A stored report cannot be read.",
    "no-trace": "There is no stored trace there.",
    "resume-mismatch": "The run or sweep to go on with is another one than asked for.",
    "run-dir-is-file": "The run folder is a file.",
    "run-dir-taken": "The folder holds a run or a sweep already.",
    "scenario-file": "A scenario has a mistake.",
    "trace-file": "A file is no trace, or a damaged one.",
    "tlc-input": "A file for TLC is missing.",
    # traces
    "bad-action": "A step is no action of the model, or has no such arguments.",
    "minimise-property": "The property is not violated by the trace, or cannot be.",
    "no-state": "The trace has no such state.",
    "no-step": "The trace has no such step.",
    "repro-index": "An index of --repro is not one of the possible actions.",
    "step-command": "A command of `trace step` is unknown.",
    "step-jump": "`trace step` has no such state to go to.",
    "step-menu": "The menu of `trace step` has no such action.",
    "step-save": "`trace step` is told to save, but not where.",
    "trace-lasso": "A trace that goes on for ever has no TLA+ witness.",
    "trace-rejected": "The model does not follow the trace.",
    "witness-name": "A TLA+ witness cannot have this name.",
    "witness-shape": "States and steps of a TLA+ witness do not fit.",
    "witness-value": "A value of a TLA+ witness has no notation.",
    # sweeps
    "sweep-bad-form": "--sweep is not KEY=VALUES.",
    "sweep-bad-value": "An axis has a value that its key cannot take.",
    "sweep-no-axis": "There is nothing to vary.",
    "sweep-too-large": "The grid has too many configurations.",
    "sweep-twice": "A key is varied twice, or varied and set.",
    # limits, Spark
    "bad-location": "--storage is no path or URI that can be used.",
    "memory-too-small": "--memory is less than the program itself takes.",
    "spark-busy": "A Spark session runs in this process already.",
    "spark-conf": "A property of Spark is wrong, or not to be set.",
    "spark-master": "--master is no Spark master.",
    # what-if
    "what-if-bad-value": "The question has a value that is not allowed.",
    "what-if-duplicate-id": "The question lists a broker twice.",
    "what-if-missing-key": "The question lacks a key.",
    "what-if-unknown-id": "The question names a broker that it does not describe.",
    "what-if-unknown-key": "The question has an unknown key.",
    "what-if-unknown-op": "The question asks for an unknown operation.",
}
ENVIRONMENT: Mapping[str, str] = {
    "cannot-delete": "A file of the storage cannot be deleted.",
    "cannot-read": "A file cannot be read.",
    "cannot-write": "A file cannot be written.",
    "executor": "A Spark executor lacks something.",
    "executor-package": "An executor lacks a Python package.",
    "executor-python": "An executor has no fitting Python.",
    "java-missing": "There is no Java.",
    "java-too-old": "The Java that was found is too old.",
    "run-in-use": "Another elrcheck is at work in the folder.",
    "no-storage": "The storage of a run on Spark cannot be used.",
    "out-of-memory": "The memory is used up.",
    "package-missing": "A Python package is missing.",
    "spark-disk": "The disk of an executor is full.",
    "spark-lost": "Spark lost executors or its driver.",
    "spark-memory": "Spark ran out of memory.",
    "spark-no-executor": "The cluster gives no executor.",
    "spark-port": "Spark's port or address is in use.",
    "spark-start": "Spark did not start.",
    "spark-unreachable": "The Spark master does not answer.",
    "storage-not-shared": "Driver and executors do not see the same storage.",
    "system": "The operating system refuses: disk full, no permission and the like.",
    "tlc-missing": "There is no TLC.",
    "worker-died": "A worker process ended unexpectedly.",
}
NOTHING: Mapping[str, str] = {
    "empty-baseline": "The baseline has no entries.",
    "empty-range": "No step of the trace is in the range.",
    "empty-trace": "The trace has no state.",
    "no-property": "No property is selected.",
    "no-report": "No run has left a report.",
    "no-rule": "No rule of `prove --controller` is selected.",
    "sweep-empty": "No configuration of the grid can be checked.",
}
INTERRUPTED: Mapping[str, str] = {
    "interrupted": "Somebody stopped the run; it says how to go on with it.",
}
INTERNAL: Mapping[str, str] = {
    "internal": "A bug in elrcheck; the message names a file to report it with.",
}

BY_EXIT: Mapping[ExitCode, Mapping[str, str]] = {
    ExitCode.DID_NOT_RUN: USAGE,
    ExitCode.ENVIRONMENT: ENVIRONMENT,
    ExitCode.NOTHING_CHECKED: NOTHING,
    ExitCode.INTERRUPTED: INTERRUPTED,
    ExitCode.INTERNAL: INTERNAL,
}
CODES: Mapping[str, str] = {word: about for codes in BY_EXIT.values() for word, about in codes.items()}


def exit_of(code: str) -> ExitCode:
    """The exit code that comes with a word."""
    return next(exit_code for exit_code, codes in BY_EXIT.items() if code in codes)
