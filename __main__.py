"""`python -m elrcheck`, and the console script `elrcheck`.

Importing the command line takes a tenth of a second. Ctrl-C in it ends with 130 as it does later, when
`elrcheck.console.shell` is in charge.
"""

from __future__ import annotations

import sys
from typing import NoReturn

INTERRUPTED = 130
"""As `errors.ExitCode` has it, which cannot be asked before it is imported."""


def main() -> NoReturn:
    try:
        from elrcheck.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
