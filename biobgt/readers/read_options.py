"""The user's word on what files alone do not say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from biobgt.graph import KINDS, GivenKind
from biobgt.missing_regions import MISSING_RULES, MissingRule
from biobgt.options import Options, option
from biobgt.readers.arrays import SubjectAxis
from biobgt.readers.images import ImageOptions
from biobgt.readers.layout import Header
from biobgt.readers.reading import Kind
from biobgt.readers.time_axis import Orientation
from biobgt.recordings import RECORDING_RULES, RecordingRule, check_run


def _listed(rules: Mapping[Any, str]) -> str:
    return "; ".join(f"{name}: {meaning}" for name, meaning in rules.items()) + "."


@dataclass(frozen=True)
class ReadOptions(Options):
    """What files contain and how they lie, which of them are read, and what becomes of gaps and several recordings."""

    kind: Kind | None = option(
        None,
        type_=str,
        choices=get_args(Kind),
        shown={"series": "region time series", "connectivity": "a connectivity matrix"},
        title="Content",
        help="What the files contain, where they do not say.",
    )
    connectivity: GivenKind | None = option(
        None,
        type_=str,
        choices=get_args(GivenKind),
        shown={key: KINDS[key].meaning for key in get_args(GivenKind)},
        title="Matrices are",
        help="What connectivity matrices hold, where their values do not tell, or tell it wrongly.",
    )
    orientation: Orientation | None = option(
        None,
        type_=str,
        choices=get_args(Orientation),
        shown={
            "time-region": "rows are time points, columns are regions",
            "region-time": "rows are regions, columns are time points",
        },
        title="Rows and columns",
        help="What rows and columns are, where the files do not say.",
    )
    header: Header | None = option(
        None,
        type_=str,
        choices=get_args(Header),
        shown={"yes": "the first line is a header", "no": "the first line is data"},
        title="First line",
        help="Whether a table's first line is a header, where unclear.",
    )
    subject_axis: SubjectAxis | None = option(
        None,
        type_=str,
        choices=get_args(SubjectAxis),
        shown={"first": "subjects lie along the first axis", "last": "subjects lie along the last axis"},
        title="Axis of the subjects",
        help="Axis of the subjects in a three-dimensional array.",
    )
    variable: str | None = option(None, type_=str, title="Array", help="Array to read from an .npz, .mat or .h5 file.")
    pattern: str | None = option(
        None, type_=str, title="Files", help="Which files of a folder to read, such as '*_cc200*'."
    )
    missing: MissingRule = option(
        "gaps",
        choices=MISSING_RULES,
        title="Missing regions",
        help=f"Where subjects lack regions: {_listed(MISSING_RULES)}",
    )
    recordings: RecordingRule = option(
        "apart",
        choices=RECORDING_RULES,
        title="Several recordings",
        help=f"Several sessions or runs of one person: {_listed(RECORDING_RULES)}",
    )
    run: str | None = option(
        None,
        type_=str,
        title="Recordings to keep",
        help="Which recordings to keep, such as run-1, ses-2 or ses-2_run-1. Default: all.",
    )
    image: ImageOptions = field(default_factory=ImageOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_run(self.run)
