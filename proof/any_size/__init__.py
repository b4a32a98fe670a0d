"""Proofs for every size: a third reading of the IR, in which no sort, log or limit has a number of its own."""
