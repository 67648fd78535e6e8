"""Run the fuzzer and print cases and findings per format: ``python -m tests.fuzz --cases 100000 --seed 0``."""

import argparse
import logging
import os
import sys

# Before anything is imported that reads them: a file that makes HDF5 loop costs five seconds here, not two minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("BIOBGT_MAX_SECONDS", "5")
os.environ.setdefault("BIOBGT_MAX_IMAGE_SECONDS", "300")

from rich.console import Console
from rich.table import Table

from biobgt.readers.foreign import isolate as isolated
from tests.fuzz.corpus import FORMATS
from tests.fuzz.fuzzer import Tally, run

_MOST_BYTES = 4 * 2**30


def main() -> None:
    """Fuzz, print, and fail where anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", nargs="+", choices=list(FORMATS), default=list(FORMATS))
    said = parser.parse_args()
    _bound_memory()
    logging.disable()
    # A process that read a damaged file is replaced, which here would be every second case.
    isolated.KEEP_AFTER_DAMAGE = True
    tally = run(said.cases, said.seed, said.formats, progress=_print)
    _print(tally)
    sys.exit(bool(tally.findings))


def _bound_memory() -> None:
    """Let what takes gigabytes fail in this process, as a finding; reading processes bound themselves."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _print(tally: Tally) -> None:
    table = Table("format", "cases", "read", "refused", "findings", title="Fuzzing the readers", title_justify="left")
    found = {name: sum(finding.format == name for finding in tally.findings) for name in tally.cases}
    for name, cases in tally.cases.items():
        refused = cases - tally.read[name] - found[name]
        table.add_row(name, f"{cases:,}", f"{tally.read[name]:,}", f"{refused:,}", str(found[name]))
    total, read = tally.cases.total(), tally.read.total()
    table.add_row("all", f"{total:,}", f"{read:,}", f"{total - read - len(tally.findings):,}", str(len(tally.findings)))
    Console().print(table)


if __name__ == "__main__":
    main()
