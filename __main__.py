"""`python -m elrcheck` is the console script `elrcheck`."""

from __future__ import annotations

from elrcheck.cli import main

if __name__ == "__main__":
    main()
