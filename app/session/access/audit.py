"""One line per login and upload, for whoever answers for a server that others use; nothing of any subject is in it.

Lines go to the server's error stream, where a service manager keeps them. Names of files are left out, for they often
hold the ids of subjects.
"""

import json
import logging
import sys

_LOG = logging.getLogger("biobgt.audit")


def audit(event: str, **facts: str | int) -> None:
    """Write one line; values are written as JSON, so that none of them can begin another line."""
    if not _LOG.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
        _LOG.addHandler(handler)
        _LOG.setLevel(logging.INFO)
        _LOG.propagate = False
    _LOG.info("%s %s", event, " ".join(f"{name}={json.dumps(value)}" for name, value in facts.items()))
