"""Rules that the KIP rejected, and search reductions: no part of the protocol."""
