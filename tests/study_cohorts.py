"""A small cohort whose study takes a second, and runs of it that end early; importable by name in other processes."""

import os
import signal
import sys
from pathlib import Path

import numpy as np

from biobgt.base.files import atomic_file
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import KINDS
from biobgt.study import folder as study_folder
from biobgt.study.options import RecordingOptions, study_settings
from biobgt.study.participants import measure_participants

N_REGIONS = 8
OPTIONS = RecordingOptions(levels=(0.3, 0.6), measures=("node_efficiency", "degree"), runs=2)
SETTINGS = study_settings(KINDS["estimated"], {})


def small_cohort(n_people: int = 5, *, changed: int | None = None) -> Cohort:
    """People with series of eight regions, in two groups; one of them may have other numbers."""
    subjects = []
    for number in range(n_people):
        rng = np.random.default_rng(100 + number if number == changed else number)
        shared = rng.standard_normal((40, 2))
        series = shared @ rng.standard_normal((2, N_REGIONS)) + rng.standard_normal((40, N_REGIONS))
        group, phenotypes = ("NC", "ASD")[number % 2], {"age": 20 + number, "site": "one"}
        subjects.append(Subject(f"sub-{number:02d}", series=series, group=group, phenotypes=phenotypes))
    return Cohort("small", tuple(subjects), numbered_atlas(N_REGIONS))


def contents(out: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def killed_at_write(out: Path, number: int) -> None:
    """Run the participant level; at some file of it, half of which is written, this process is killed."""
    done = 0
    whole = study_folder.write_atomically

    def write(path: Path, content: bytes) -> None:
        nonlocal done
        done += 1
        if done == number:
            with atomic_file(path) as unfinished:
                unfinished.write_bytes(content[: len(content) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
        whole(path, content)

    study_folder.write_atomically = write
    measure_participants(small_cohort(), out, SETTINGS, OPTIONS)


if __name__ == "__main__":
    killed_at_write(Path(sys.argv[1]), int(sys.argv[2]))
