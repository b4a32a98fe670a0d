"""The time in which `elrcheck conform` finds a difference that one changed knob of the model plants.

    python benchmarks/planted_differences.py 4.1.2            # needs a JDK and Kafka's jars
    python benchmarks/planted_differences.py 4.1.2 --seconds 60 --seed 7

One line for each knob: seconds and comparisons until the first unexplained difference, Java's start included.
Exits with 1 if one is not found in time. A knob that makes no difference to a release is not planted there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.conformance.conform import run_conform
from elrcheck.kafka.conformance.sides import open_kafka, teams_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from support.planted_knobs import PLANTED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kafka")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    missed = 0
    print(f"{'planted in the model':40} {'seconds':>8} {'compared':>9}  first difference")
    for change in options.only or PLANTED:
        request = ConformRequest(
            kafka=(options.kafka,),
            overrides=(change,),
            comparisons=10_000_000,
            seconds=options.seconds,
            seed=options.seed,
            stop_at_first=True,
        )
        report = run_conform(request, teams_of(request, Silent()), open_kafka, Silent())
        unexplained = [d for d in report.disagreements if not d.explained]
        missed += not unexplained
        first = unexplained[0].class_ if unexplained else "NOT FOUND"
        print(f"{change:40} {report.seconds:8.1f} {report.compared:9,}  {first}", flush=True)
    print(f"{missed} not found within {options.seconds:.0f} s")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
