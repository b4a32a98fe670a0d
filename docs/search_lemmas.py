"""Searches the suite for a reachable state that lacks a lemma: `python docs/search_lemmas.py [--states N]`.

The configurations are those whose actions a proof covers, without recoveries, of at most N states. Prints
each, and at the end the figures for docs/proofs.md; exits with 1 if a lemma is false somewhere.
"""

from __future__ import annotations

import argparse
import sys

from elrcheck.base.requests import Limits
from elrcheck.invariants.modules import load_proof_model
from elrcheck.laboratory.evidence.lemma_search import lemma_cases, search_lemmas, with_lemmas


def main(most: int) -> int:
    model = with_lemmas(load_proof_model())
    cases = list(lemma_cases())
    for case, left_out in cases:
        if left_out:
            print(f"left out  {case.name}: {', '.join(left_out)}")
    searched = [
        search_lemmas(model, case.name, case.selected.config, Limits(max_states=most))
        for case, left_out in cases
        if not left_out
    ]
    for one in searched:
        part = "" if one.complete else ", not all of them"
        verdict = f"broken {dict(one.broken)}" if one.broken else "hold"
        print(f"{one.name}: {one.distinct:,} states{part}: {verdict}")
    states = sum(one.distinct for one in searched)
    print(
        f"{len(model.always)} lemmas in {states:,} states of {len(searched)} configurations;"
        f" {sum(not one.complete for one in searched)} of them not complete;"
        f" {sum(bool(left_out) for _, left_out in cases)} left out"
    )
    return 1 if any(one.broken for one in searched) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Search the suite for a state that lacks a lemma.")
    parser.add_argument("--states", type=int, default=300_000, help="most states of a configuration")
    sys.exit(main(parser.parse_args().states))
