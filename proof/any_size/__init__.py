"""Proofs for every size: a reading of the IR in which the sizes of sorts, lengths and limits are variables."""
