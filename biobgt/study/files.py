"""The files of one recording in a study's folder: what they are called, as BIDS derivatives are, and what is in them.

Numbers are written so that reading gives exactly what was measured. The matrix follows BIDS's proposal for
connectivity (BEP017), which is a draft.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

import biobgt
from biobgt.base.files import write_csv
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject, person_of
from biobgt.data.graph import ESTIMATORS, ConnectivityKind, ConnectomeSettings
from biobgt.study.options import RecordingOptions
from biobgt.study.subject import MEASURED_SIMPLER, RecordingMeasures, model_of

MISSING = "n/a"  # as BIDS writes it
REGIONS, NETWORK, MATRIX = "_desc-regions_measures", "_desc-network_measures", "_relmat"
LENGTHS = "_desc-lengths_relmat"  # of tracts, where they came with the matrix
DRAFT = "Names and keys of this file follow BIDS Extension Proposal 17 (connectivity), which is a draft."
_ENTITIES = re.compile(r"_(ses|run)(?:-|sion_)([A-Za-z0-9]+)")
_DATATYPES = {"structural": "dwi", "other": ""}


def stems(ids: Iterable[str], kind: ConnectivityKind, atlas: Atlas) -> dict[str, str]:
    """Where the files of each recording are in the folder, without their endings; ids that come out alike are numbered.

    Parameters
    ----------
    ids : iterable of str
    kind : ConnectivityKind
    atlas : Atlas

    Examples
    --------
    >>> from biobgt.data.atlas import numbered_atlas
    >>> from biobgt.data.graph import KINDS
    >>> ids = ["sub-01_ses-a", "Pitt_0050003", "Pitt-0050003"]
    >>> for stem in stems(ids, KINDS["estimated"], numbered_atlas(3)).values():
    ...     print(stem)
    sub-01/ses-a/func/sub-01_ses-a_seg-unknown3
    sub-Pitt0050003/func/sub-Pitt0050003_seg-unknown3
    sub-Pitt00500032/func/sub-Pitt00500032_seg-unknown3
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    used: set[str] = set()
    datatype, seg = _DATATYPES.get(kind.key, "func"), _label(atlas.name)
    for name in ids:
        person = person_of(name)
        label = plain = _label(person.removeprefix("sub-")) or "unnamed"
        number = 1
        while taken.setdefault(label.lower(), person) != person:
            number += 1
            label = f"{plain}{number}"
        entities = [f"sub-{label}", *(f"{key}-{value}" for key, value in _ENTITIES.findall(name[len(person) :]))]
        folders = [one for one in entities if one.startswith(("sub-", "ses-"))]
        own, again = list(entities), 1
        while (stem := str(PurePosixPath(*folders, datatype, "_".join([*own, f"seg-{seg}"])))) in used:
            again += 1
            own = [*entities, f"recording-{again}"]
        found[name] = stem
        used.add(stem)
    return found


def _label(text: str) -> str:
    """The letters and numbers of a text, as BIDS wants labels."""
    return "".join(character for character in text if character.isascii() and character.isalnum())


def fingerprint(
    subject: Subject, kind: ConnectivityKind, atlas: Atlas, settings: ConnectomeSettings, options: RecordingOptions
) -> str:
    """SHA-256 over all that the results of a recording depend on: its numbers, settings, options and this version.

    Parameters
    ----------
    subject : Subject
    kind : ConnectivityKind
        Of the cohort.
    atlas : Atlas
    settings : ConnectomeSettings
    options : RecordingOptions
    """
    values = subject.series if subject.series is not None else subject.connectivity
    numbers = np.ascontiguousarray(values, dtype="<f8")
    about = {
        "id": subject.id,
        "data": subject.kind,
        "simulated": subject.simulated,
        "kind": kind.key,
        "shape": numbers.shape,
        "atlas": atlas.table().to_json(),
        "settings": settings.as_dict(),
        "options": asdict(options),
        "model": model_of(options).sha256 if options.model else "",
        "regions": list(MEASURED_SIMPLER),
        "version": biobgt.__version__,
    }
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(numbers.data)
    if subject.lengths is not None:
        digest.update(np.ascontiguousarray(subject.lengths, dtype="<f8").data)
    return digest.hexdigest()


def recording_files(
    cohort: Cohort, measures: RecordingMeasures, settings: ConnectomeSettings, mark: str
) -> dict[str, bytes]:
    """The contents of a recording's files, by what follows the stem; the last one says that all are there.

    Parameters
    ----------
    cohort : Cohort
        Of the one subject.
    measures : RecordingMeasures
    settings : ConnectomeSettings
    mark : str
        The :func:`fingerprint`.
    """
    files = {**table_files(REGIONS, measures.regions), **table_files(NETWORK, measures.network)}
    matrix = pd.DataFrame(measures.edges, columns=cohort.atlas.regions)
    files[f"{MATRIX}.tsv"] = to_tsv(matrix)
    if (lengths := cohort.subjects[0].lengths) is not None:
        files[f"{LENGTHS}.tsv"] = to_tsv(pd.DataFrame(lengths.astype(np.float32), columns=cohort.atlas.regions))
    sizes = {name: len(content) for name, content in files.items()}
    return files | {f"{MATRIX}.json": to_json({**_about_matrix(cohort, settings), "Fingerprint": mark, "Sizes": sizes})}


def _about_matrix(cohort: Cohort, settings: ConnectomeSettings) -> dict[str, Any]:
    subject = cohort.subjects[0]
    kind = cohort.kind_of(subject)
    source = subject.source
    estimator = ESTIMATORS[settings.estimator]
    values = estimator.words if estimator.of_weights else "Weights as given"
    values = "Fisher z of correlations" if kind.functional else values
    return {
        "RelationshipMeasure": kind.source(settings.estimator),
        "Description": f"{values}; {MISSING} for regions without {kind.of_region}. Nothing is thresholded.",
        "Note": DRAFT,
        "Weighted": True,
        "Directed": False,
        "ValidDiagonal": False,
        "StorageFormat": "Full",
        "Atlas": cohort.atlas.title,
        "Simulated": subject.simulated,
        "Sources": [] if source is None else [{"File": source.file, "SHA256": source.sha256}],
        "GeneratedBy": [{"Name": "BioBGT Explorer", "Version": biobgt.__version__}],
    }


def table_files(name: str, table: pd.DataFrame) -> dict[str, bytes]:
    """A table as TSV, with a dot for decimals and all digits, and as Parquet."""
    return {f"{name}.tsv": to_tsv(table), f"{name}.parquet": to_parquet(table)}


def to_tsv(table: pd.DataFrame) -> bytes:
    """A table as BIDS has it, and as no spreadsheet runs it."""
    return write_csv(table, sep="\t", index=False, na_rep=MISSING, lineterminator="\n").encode()


def to_parquet(table: pd.DataFrame) -> bytes:
    """A table as Parquet; words and numbers in one column become words."""
    plain = table.copy()
    for name in [name for name, kind in plain.dtypes.items() if kind == "object"]:
        plain[name] = plain[name].map(str, "ignore")
    stream = io.BytesIO()
    plain.to_parquet(stream, index=False)
    return stream.getvalue()


def to_json(document: Mapping[str, Any]) -> bytes:
    """A document as JSON, the same text for the same document."""
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
