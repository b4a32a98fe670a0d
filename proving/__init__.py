"""Runs of proofs: by induction, for any size, of certificates; stored proofs, and failed steps."""
