"""A cohort with everything a project can hold, saved, opened, and compared to the last bit."""

import datetime
import io
from dataclasses import fields

import numpy as np

from biobgt import Atlas, Cohort, ConnectomeSettings, Subject
from biobgt.base.errors import Refusal
from biobgt.data.cohort import Source
from biobgt.readers.project import Project, open_project, save_project

SETTINGS = ConnectomeSettings("partial", "signed", "proportional", 0.15, True)
VIEW = {"subject": "b", "gamma": 2.5, "runs": 10, "consensus": True}


def own_atlas(n_regions: int, *, name: str = "mine") -> Atlas:
    return Atlas(
        name=name,
        title="Our own atlas",
        regions=tuple(f"R{i}" for i in range(n_regions)),
        coordinates=np.random.default_rng(1).standard_normal((n_regions, 3)) * 30,
        labels={"network": tuple(None if i == 1 else f"N{i % 2}" for i in range(n_regions))},
        citation="Nobody et al. (2020)",
    )


def make_cohort() -> Cohort:
    """Three subjects in which every field is set somewhere, on an atlas of their own."""
    rng = np.random.default_rng(0)
    series = rng.standard_normal((12, 5)) / 3
    series[:, 3] = 0
    matrix = np.corrcoef(rng.standard_normal((5, 20)))
    matrix = (matrix + matrix.T) / 2
    source = Source("lab/a.csv", 321, "f" * 64, "csv", {"separator": ",", "header": True, "tr": 0.1 + 0.2})
    phenotypes = {"age": 12.3, "site": "Zürich", "n": 3, "left": True, "when": datetime.date(2020, 2, 29)}
    return Cohort(
        name="Unser Kollektiv",
        subjects=(
            Subject(
                "a", series=series, missing_regions=(3,), group="ASD", phenotypes=phenotypes, tr=0.1, source=source
            ),
            Subject("b", connectivity=matrix, simulated=True, phenotypes={"iq": float("nan"), "none": None}),
            Subject("a\udcffb/../c", series=series * np.pi, group="first episode"),
        ),
        atlas=own_atlas(5),
        refused=(Refusal("bad.csv", "It is bad."),),
        notes=("One.", "Two."),
        unmatched_subjects=("b",),
        unmatched_rows=("z",),
    )


def saved(cohort: Cohort, *, view=VIEW) -> bytes:
    stream = io.BytesIO()
    save_project(cohort, SETTINGS, view, stream)
    return stream.getvalue()


def opened(content: bytes) -> Project:
    return open_project(io.BytesIO(content))


def assert_same(one: object, other: object) -> None:
    """Compare subjects, atlases and cohorts field by field, arrays bit by bit."""
    assert type(one) is type(other)
    for field in fields(one):
        before, after = getattr(one, field.name), getattr(other, field.name)
        if isinstance(before, np.ndarray):
            assert (after.dtype, after.shape) == (before.dtype, before.shape)
            assert after.tobytes() == before.tobytes()
        elif isinstance(before, Atlas):
            assert_same(before, after)
        elif field.name == "subjects":
            assert len(before) == len(after)
            for first, second in zip(before, after, strict=True):
                assert_same(first, second)
        else:
            assert repr(after) == repr(before), field.name  # NaN is not itself, but its word is
