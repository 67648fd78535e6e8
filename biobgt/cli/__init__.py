"""The command line: the same functions as the app, for scripts and for large cohorts.

Bad input ends with one sentence on stderr and exit code 2; a traceback means a bug, or ``--debug``.
"""

from biobgt.cli.main import main

__all__ = ["main"]
