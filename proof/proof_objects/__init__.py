"""Proofs that a solver writes for its answers, and the program that checks them."""
