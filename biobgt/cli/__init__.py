"""The command line: the same functions as the app, for scripts and for large cohorts.

Bad input ends with one sentence on stderr and exit code 2; a traceback means a bug, or ``--debug``.
"""

import signal
import sys

INTERRUPTED: int = 128 + signal.SIGINT  # an exit code, as shells have them
NOTHING_WRITTEN: str = "Stopped before the end: no results were written."

try:
    from biobgt.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the libraries are loaded
    sys.stderr.write(f"{NOTHING_WRITTEN}\n")
    sys.exit(INTERRUPTED)

__all__ = ["main"]
