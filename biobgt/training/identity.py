"""What a training run was of, so that what it left behind is never taken for another's.

A member, a checkpoint or a line of results may be used again only by a run with the same subjects, split, settings and
seed: otherwise a subject that a member was trained on could be counted among those it never met.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from biobgt.errors import InputError
from biobgt.output import write_atomically
from biobgt.training.data import LabelledGraphs
from biobgt.training.distributed import is_first
from biobgt.training.splits import Split

FILE = "run.json"


def run_identity(data: LabelledGraphs, split: Split, settings: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that change with any subject, correlation, group, part of the split or setting.

    Parameters
    ----------
    data : LabelledGraphs
    split : Split
    settings : dict
        Everything else that decides on the weights, as JSON can hold it.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps([data.subjects, data.groups, data.labels.tolist()]).encode())
    digest.update(data.matrices.tobytes())
    digest.update(json.dumps([rows.tolist() for rows in (split.train, split.validation, split.test)]).encode())
    digest.update(json.dumps(settings, sort_keys=True).encode())
    return digest.hexdigest()[:12]


def open_run(folder: Path, identity: str, *, resume: bool) -> None:
    """Go on with what a folder holds, if it is of the same run; or start anew, so that nothing in it is taken up later.

    Parameters
    ----------
    folder : Path
        Of the run.
    identity : str
        See :func:`run_identity`.
    resume : bool
        Whether to go on with what the folder holds.

    Raises
    ------
    InputError
        Where the run is to be resumed and the folder holds another's.
    """
    file, left = folder / FILE, list(folder.glob("*.safetensors"))
    if resume and left:
        if _read(file) == identity:
            return
        raise InputError(
            f"What is in '{folder}' was trained on other subjects or splits, or with other settings or another seed: "
            "this run cannot go on with it. Name another folder with --runs, or leave --resume out to start anew."
        )
    if not is_first():
        return
    for stale in left:
        stale.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps({"run": identity}) + "\n")


def _read(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["run"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
