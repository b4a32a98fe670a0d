"""The Spark tasks of a trace: each partition answers a question about its states in a level.

States come from the level's files, so that no shard has to be there any more.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Rows, Successors
from elrcheck.explorer.search.level_questions import LevelQuestion
from elrcheck.explorer.search.result import in_batches
from elrcheck.explorer.store.levels import SavedLevel
from elrcheck.explorer.store.stored_levels import level_files
from elrcheck.spark.shards import WORKER
from elrcheck.spark.tasks import SparkRun

if TYPE_CHECKING:
    import pyarrow as pa

ANSWERS = "answers binary"


@dataclass(frozen=True)
class KernelSteps:
    """A kernel as a question asks it."""

    kernel: Kernel

    def successors(self, rows: Rows) -> Successors:
        return self.kernel.successors(rows, np.zeros(self.kernel.counters.size, np.int64))

    def state_hits(self, check: int, rows: Rows) -> npt.NDArray[np.bool_]:
        return self.kernel.state_hits(check, rows)


@dataclass(frozen=True)
class QuestionTasks:
    """The tasks of one question. parts: the level in each partition."""

    run: SparkRun
    question: LevelQuestion
    parts: tuple[SavedLevel, ...]

    def answer(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the answers of each partition whose key comes."""
        import pyarrow as pa

        run = self.run
        for batch in batches:
            for key in batch.column("key").to_pylist():
                kernel, _ = WORKER.begin(run.name, run.plans.value, run.digest, run.threads)
                steps, files = KernelSteps(kernel), level_files(run.place, kernel.layout.words)
                blocks = files.read(self.parts[run.keys.index(key)])
                answers = self.question.merged(self.question.answers(steps, rows) for rows in in_batches(blocks))
                yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(answers)], pa.binary())], ["answers"])
