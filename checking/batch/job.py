"""One configuration as a task, checked by the code behind `elrcheck check`.

A job carries every value of its configuration, so a process on another machine needs no scope file. Its answer is
the check report with its trace files, or the reason why there is no report.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import field, structs

from elrcheck.base.errors import ElrError, Interrupted, UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest, Limits, Selection, SparkRequest
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import build_config, check_value, config_fields, parse_overrides
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import Selected
from elrcheck.explorer.kernel.object_code import ALONE
from elrcheck.lang.source import ModelError
from elrcheck.results.check_report import CheckReport

if TYPE_CHECKING:
    from elrcheck.explorer.search.family import KernelFamily


class Sharing(Record, frozen=True):
    """A family of configurations: the largest, and the numbers that stay open, with their least values."""

    widest: dict[str, Any]
    least: dict[str, int]


class Job(Record, frozen=True):
    """A configuration to check. workers: threads of its search, None for as many as useful.

    large: number of states at which the search stops as too large for one thread, None for no limit. sharing: the
    family whose kernel the search may use. kept, fresh: as of `CheckRequest`.
    """

    number: int
    selection: Selection
    config: dict[str, Any]
    properties: tuple[str, ...] = ()
    limits: Limits = Limits()
    stop_at_first: bool = False
    workers: int | None = 1
    large: int | None = None
    sharing: Sharing | None = None
    kept: bool = False
    fresh: bool = False

    def selected(self) -> Selected:
        """Return the configuration, without reading its scope again."""
        source = self.selection.source
        model = declared(source)
        kind = model.config
        fields = config_fields(kind)
        config: Any = build_config(kind, {key: check_value(fields[key], v) for key, v in self.config.items()})
        overrides = parse_overrides(kind, self.selection.overrides)
        return Selected.of(model, source, self.selection.variant, self.selection.scope, config, overrides)


class JobAnswer(Record, frozen=True):
    """The outcome of a job: a check report, or the reason why it has none.

    refused: why the check refused the configuration. error: why the check failed otherwise. large: the configuration
    has more states than `Job.large`. traces: file name -> text.
    """

    number: int
    report: CheckReport | None = None
    refused: str | None = None
    error: str | None = None
    large: bool = False
    traces: dict[str, str] = field(default_factory=dict)


def check_job(
    job: Job,
    progress: Progress,
    scratch: Path | None = None,
    spark: SparkRequest | None = None,
    family_of: Callable[[Job], KernelFamily | None] | None = None,
) -> JobAnswer:
    """Check one configuration. Every failure except an interrupt becomes part of the answer.

    scratch: folder for temporary files, which are removed. spark: how to distribute the search over this process's
    Spark session; None for the local engine. family_of: returns the family of a job that shares a kernel.
    """
    from elrcheck.checking.check import check_selected

    limit = job.limits.max_states
    bounded = job.large is not None and (limit is None or job.large < limit)
    request = CheckRequest(
        selection=job.selection,
        properties=job.properties,
        workers=job.workers,
        stop_at_first=job.stop_at_first,
        limits=replace(job.limits, max_states=job.large) if bounded else job.limits,
        checkpoint_every=float("inf"),
        engine="local" if spark is None else "spark",
        spark=spark or SparkRequest(),
        kept=job.kept,
        fresh=job.fresh,
    )
    if scratch is not None:
        scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{job.number}-", dir=scratch))
    try:
        family = None if family_of is None else family_of(job)
        report = check_selected(request, job.selected(), progress, folder / "run", family=family)
        if bounded and (report.search.stopped_by or "").startswith("--max-states"):
            return JobAnswer(job.number, large=True)
        traces = {p.name: p.read_text("utf-8") for p in sorted((folder / "run").glob("*.trace.json"))}
        return JobAnswer(job.number, report=structs.replace(report, run_dir=None), traces=traces)
    except Interrupted:
        raise
    except (UsageFault, ModelError) as fault:  # also a configuration that the model does not fit
        return JobAnswer(job.number, refused=fault.message)
    except ElrError as fault:
        return JobAnswer(job.number, error=f"{fault.code}: {fault.message}")
    except MemoryError:
        return JobAnswer(job.number, error="out of memory")
    except OSError as fault:
        return JobAnswer(job.number, error=f"system: {fault.strerror or fault}")
    except Exception as fault:  # a bug in one configuration must not lose the others
        return JobAnswer(job.number, error=f"internal: {type(fault).__name__}: {fault}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compile_alone(alone: bool) -> None:
    """Set whether this process compiles kernels without helper processes, because it runs in a pool."""
    os.environ[ALONE] = "1" if alone else ""
