"""`python -m elrcheck`, and the console script `elrcheck`.

Importing the command line takes a tenth of a second. Ctrl-C in it ends with 130 as it does later, when
`elrcheck.console.shell` is in charge.
"""

from __future__ import annotations

import atexit
import gc
import sys
from typing import NoReturn

INTERRUPTED = 130
"""As `errors.ExitCode` has it, which cannot be asked before it is imported."""


RARELY = 500_000
"""Objects between two collections of garbage. Loading and lowering the model make fewer objects, and almost no
cycles; with Python's 700 a fifth of a short command goes into looking for them."""


def main() -> NoReturn:
    gc.set_threshold(RARELY, 20, 20)
    atexit.register(gc.freeze)  # Python looks for garbage as it ends, an eighth of a short command
    try:
        from elrcheck.cli import main as run

        run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
