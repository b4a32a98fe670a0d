"""`python -m elrcheck`, and the console script `elrcheck`.

Importing the command line takes a tenth of a second. Ctrl-C in it ends with 130 as it does later, when
`elrcheck.console.shell` is in charge.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

INTERRUPTED = 130
"""As `errors.ExitCode` has it, which cannot be asked before it is imported."""


OFTEN = 100_000
"""Objects between two collections of garbage. Loading and lowering the model make many objects and almost no
cycles; with Python's 700 a fifth of a short command goes into looking for them."""


def main() -> NoReturn:
    gc.set_threshold(OFTEN, 20, 20)
    try:
        from elrcheck.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
