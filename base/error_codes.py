"""The error codes printed as ``error[code]``: the meaning of each, grouped by exit code.

Error codes are stable, because scripts grep for them. `elrcheck list errors` prints this catalogue, and a
test compares it with the source, so that no code is missing or left over.
"""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.base.errors import ExitCode

USAGE: Mapping[str, str] = {
    # how a command is called
    "usage": "The command line could not be parsed.",
    "usage-bad-value": "The value of an option or argument is invalid.",
    "usage-controller": "The option is only valid with `prove --controller`.",
    "usage-eval": "--eval was given, but the command prints no report.",
    "usage-explain": "`explain` was asked two questions at once.",
    "usage-filter": "Part of a trace was requested in a notation that only renders whole traces.",
    "usage-format": "The report is not available in this format.",
    "usage-missing": "A required option or argument is missing.",
    "usage-option": "The option cannot be combined with the others.",
    "output-clash": "An output would overwrite another output or an input of the command.",
    "usage-record": "--record cannot keep a comparison of this kind.",
    "usage-resume": "--resume and --run-dir were given together.",
    "usage-run-dir": "--run-dir was given, but the command stores nothing.",
    "usage-unknown-command": "There is no such command.",
    "usage-unknown-option": "The command has no such option.",
    "engine-option": "The chosen engine does not support the option.",
    "explain-liveness": "`explain` was asked about a liveness property in a single state.",
    "explore-liveness": "A state graph cannot be marked with a liveness property.",
    "explore-option": "A graph option was given without --graph.",
    "liveness-option": "The option does not apply to liveness properties.",
    "mixed-properties": "The selection mixes liveness properties with others.",
    "simulate-liveness": "Random walks cannot check a liveness property.",
    # names
    "bad-expression": "The expression given to --eval could not be parsed.",
    "ambiguous-name": "The name has several meanings.",
    "unknown-action": "There is no such action.",
    "unknown-configuration": "The suite has no such configuration.",
    "unknown-entry": "The baseline has no such entry.",
    "unknown-function": "The protocol has no such function.",
    "unknown-hazard": "There is no such hazard.",
    "unknown-kind": "There is no such kind of name.",
    "unknown-knob": "There is no such knob, size or budget.",
    "unknown-leaf": "No state variable has this name.",
    "unknown-name": "Nothing has this name.",
    "unknown-property": "There is no such property.",
    "unknown-recipe": "The finding has no such recipe, or none at all.",
    "unknown-rule": "There is no such rule of `prove --controller`.",
    "unknown-scope": "There is no such scope.",
    "unknown-variant": "There is no such variant.",
    # settings, scopes, overrides
    "config-bad-value": "A value in a settings or scope file, or a size, is invalid.",
    "config-duplicate-key": "A scope file sets a key twice.",
    "config-invalid": "The values of a configuration contradict each other.",
    "config-missing-key": "A configuration lacks a value.",
    "config-no-table": "The file given as --config has no table [tool.elrcheck].",
    "config-not-toml": "A file is not valid TOML.",
    "config-unknown-key": "A settings, scope or grid file has an unknown key.",
    "config-unreadable": "A settings or scope file cannot be read.",
    "override-bad-form": "--set is not of the form KEY=VALUE.",
    "override-bad-value": "The value given to --set is invalid for its key.",
    # files
    "baseline": "The baseline file is invalid.",
    "equivalents-file": "The table of equivalent changes is invalid, or one of its entries is stale.",
    "checkpoint-damaged": "The checkpoint of a run or sweep is damaged.",
    "graph-file": "The file for the graph is a folder.",
    "graph-format": "The graph format cannot be inferred from the file name.",
    "graph-incomplete": "The search ended early, so the state graph is incomplete and is not written.",
    "keep-taken": "The folder given as --keep is not empty.",
    "kafka-home": "The folder is not a Kafka distribution.",
    "kafka-version": "There is no such Kafka release.",
    "graph-too-large": "The state graph has more states than the limit.",
    "init-exists": "All files that `init` writes already exist.",
    "json-malformed": "The input is not JSON of the expected shape.",
    "answers-damaged": "A file does not hold answers of Kafka, or it is damaged.",
    "bootstrap-address": "--bootstrap is not HOST:PORT, or a list of those.",
    "client-config": "The file of client properties is invalid, or has a property that is not supported.",
    "not-kraft": "The cluster does not run with KRaft.",
    "log-empty": "A metadata log has no record that could be read.",
    "log-unreadable": "A metadata log cannot be opened.",
    "model-source": "The model's source does not load, or one of its tables refers to an unknown name.",
    "no-baseline": "There is no baseline.",
    "no-checkpoint": "There is no run or sweep to resume.",
    "no-folder": "There is no such folder.",
    "report-file": "A stored report cannot be read.",
    "no-trace": "No trace is stored there.",
    "resume-mismatch": "The run or sweep to resume is not the one asked for.",
    "run-dir-is-file": "The run folder is a file.",
    "run-dir-taken": "The folder already holds a run or a sweep.",
    "finding-file": "The file of a finding is invalid.",
    "recipe-file": "The recipe file is invalid.",
    "recipe-version": "The recipe uses what this release of Kafka does not have.",
    "suite-unexpected": "The suite is not as expected, so no change of the rules can be judged by it.",
    "scenario-file": "The scenario file is invalid.",
    "trace-file": "The file is not a trace, or it is damaged.",
    "tlc-input": "A file for TLC is missing.",
    # traces
    "bad-action": "A step names an unknown action, or its arguments are wrong.",
    "junit-property": "A JUnit test of Kafka's classes cannot state this property of the trace.",
    "junit-trace": "Nothing in the trace can be asked of Kafka's controller classes.",
    "minimise-property": "The trace does not violate the property, or the property cannot be violated.",
    "no-state": "The trace has no such state.",
    "no-step": "The trace has no such step.",
    "repro-index": "An index in --repro does not refer to an enabled action.",
    "step-command": "`trace step` does not know this command.",
    "step-jump": "`trace step` has no such state to jump to.",
    "step-menu": "The menu of `trace step` has no such action.",
    "step-save": "`trace step` needs a file name to save to.",
    "trace-lasso": "An infinite behaviour has no TLA+ witness.",
    "trace-rejected": "The model rejects a step of the trace.",
    "witness-name": "The name is not a valid name for a TLA+ witness.",
    "witness-shape": "The states and steps of a TLA+ witness do not match.",
    "witness-value": "A value in a TLA+ witness has no notation.",
    # sweeps
    "sweep-bad-form": "--sweep is not of the form KEY=VALUES.",
    "sweep-bad-value": "An axis has a value that is invalid for its key.",
    "sweep-no-axis": "The sweep has no axis to vary.",
    "sweep-too-large": "The grid has too many configurations.",
    "sweep-twice": "A key is varied twice, or both varied and set.",
    # limits, Spark
    "bad-location": "--storage is not a usable path or URI.",
    "memory-too-small": "--memory is less than the program itself takes.",
    "spark-busy": "This process already runs a Spark session.",
    "spark-conf": "A Spark property is invalid, or must not be set.",
    "spark-master": "--master is not a Spark master URL.",
    # what-if
    "what-if-bad-value": "A value in the question is invalid.",
    "what-if-duplicate-id": "The question lists a broker twice.",
    "what-if-missing-key": "The question lacks a key.",
    "what-if-unknown-id": "The question names a broker that it does not describe.",
    "what-if-unknown-key": "The question has an unknown key.",
    "what-if-unknown-op": "The question asks for an unknown operation.",
}
ENVIRONMENT: Mapping[str, str] = {
    "cannot-delete": "A file in the storage cannot be deleted.",
    "cannot-read": "A file cannot be read.",
    "cannot-write": "A file cannot be written.",
    "executor": "A Spark executor lacks something that the search needs.",
    "executor-package": "An executor lacks a Python package.",
    "executor-python": "An executor has no compatible Python.",
    "java-missing": "No Java was found.",
    "javac-missing": "No Java compiler was found.",
    "cluster-unreachable": "No broker of the cluster answers.",
    "live-client": "The package kafka-python, which asks clusters that run, is missing or too old.",
    "kafka-driver": "The Java program that drives Kafka's classes did not compile, or it crashed.",
    "kafka-jars": "Kafka's jars could not be fetched.",
    "maven-missing": "No Maven was found.",
    "java-too-old": "The Java that was found is too old.",
    "run-in-use": "Another elrcheck process is using the folder.",
    "no-storage": "The storage of a run on Spark cannot be used.",
    "out-of-memory": "The process ran out of memory.",
    "package-missing": "A Python package is missing.",
    "spark-disk": "The disk of an executor is full.",
    "spark-lost": "Spark lost executors or its driver.",
    "spark-memory": "Spark ran out of memory.",
    "spark-no-executor": "The cluster provided no executor.",
    "spark-port": "Spark's port or address is in use.",
    "spark-start": "Spark did not start.",
    "spark-unreachable": "The Spark master does not answer.",
    "storage-not-shared": "Driver and executors do not see the same storage.",
    "system": "The operating system refused an operation: disk full, permission denied and the like.",
    "tlc-missing": "No TLC was found.",
    "worker-died": "A worker process ended unexpectedly.",
}
NOTHING: Mapping[str, str] = {
    "empty-baseline": "The baseline has no entries.",
    "empty-range": "No step of the trace lies in the range.",
    "empty-trace": "The trace has no states.",
    "no-answers": "No question of the kind can be put to the release.",
    "no-configuration": "No configuration of the suite is selected.",
    "no-partitions": "The cluster shows no partition to this user.",
    "no-property": "No property is selected.",
    "no-report": "There is no stored report.",
    "no-rule": "No rule of `prove --controller` is selected.",
    "sweep-empty": "No configuration of the grid can be checked.",
}
INTERRUPTED: Mapping[str, str] = {
    "interrupted": "The run was interrupted; the message says how to resume it.",
}
INTERNAL: Mapping[str, str] = {
    "internal": "A bug in elrcheck; the message names a file to attach to the bug report.",
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
    """Return the exit code that accompanies an error code."""
    return next(exit_code for exit_code, codes in BY_EXIT.items() if code in codes)
