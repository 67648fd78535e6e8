"""The command line: the same functions as the app, for scripts and for large cohorts.

Bad input ends with one sentence on stderr and exit code 2; a traceback means a bug, or ``--debug``.
"""

import sys

from biobgt.base.signals import INTERRUPTED, NOTHING_WRITTEN

try:
    from biobgt.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the libraries are loaded
    sys.stderr.write(f"{NOTHING_WRITTEN}\n")
    sys.exit(INTERRUPTED)

__all__ = ["main"]
