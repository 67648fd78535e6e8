"""A project comes back as it was saved, to the last bit, and is read as a cohort wherever one is."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from project_contents import SETTINGS, VIEW, assert_same, make_cohort, opened, own_atlas, saved

from biobgt import Cohort, InputError, Subject, load_atlas, read_cohort
from biobgt.readers import stream_subjects
from biobgt.readers.project import save_project


@pytest.fixture
def cohort() -> Cohort:
    return make_cohort()


def test_everything_comes_back(cohort) -> None:
    project = opened(saved(cohort))
    assert_same(project.cohort, cohort)
    assert project.settings == SETTINGS
    assert project.view == VIEW


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
TIMES = st.datetimes().map(lambda time: time.replace(fold=0))  # ISO 8601 knows no fold
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | TIMES | st.dates()


@settings(deadline=None, max_examples=50)
@given(
    values=st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=2, max_size=6),
    name=st.text(min_size=1),
    group=st.none() | st.text(),
    tr=st.none() | st.floats(0.001, 100),
    phenotypes=st.dictionaries(st.text(), VALUES),
)
def test_any_subject_comes_back(values, name, group, tr, phenotypes) -> None:
    series = np.array(values)
    subject = Subject(name, series=series, group=group, tr=tr, phenotypes=phenotypes)
    cohort = Cohort("x", (subject,), own_atlas(2))
    assert_same(opened(saved(cohort)).cohort, cohort)


def test_same_project_makes_the_same_bytes(cohort) -> None:
    assert saved(cohort) == saved(cohort)


def test_bundled_atlas_goes_by_name_and_an_impostor_goes_whole(rng) -> None:
    subject = Subject("a", series=rng.standard_normal((10, 90)))
    bundled = opened(saved(Cohort("x", (subject,), load_atlas("aal90")))).cohort
    assert bundled.atlas is load_atlas("aal90")
    impostor = own_atlas(90, name="aal90")
    assert_same(opened(saved(Cohort("x", (subject,), impostor))).cohort.atlas, impostor)
    nameless = replace(impostor, coordinates=None, labels={})
    assert_same(opened(saved(Cohort("x", (subject,), nameless))).cohort.atlas, nameless)


def test_numpy_reads_the_arrays_and_their_hashes_are_those_of_the_files(cohort) -> None:
    content = saved(cohort)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["arrays/subject_00001"], cohort["a"].series)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        document = json.loads(archive.read("project.json"))
        assert len(document["arrays"]) == 4
        for name, about in document["arrays"].items():
            assert hashlib.sha256(archive.read(name)).hexdigest() == about["sha256"]


def test_what_cannot_come_back_is_not_saved(cohort) -> None:
    with pytest.raises(InputError, match="no subject"):
        saved(replace(cohort, subjects=()))
    endless = Subject("a", series=np.full((3, 5), np.inf))
    with pytest.raises(InputError, match="'a' has values that are not finite"):
        saved(replace(cohort, subjects=(endless,)))


# A project as a cohort among others.


@pytest.fixture
def file(cohort, tmp_path) -> Path:
    path = tmp_path / "study.biobgt"
    save_project(cohort, SETTINGS, VIEW, path)
    return path


def test_read_cohort_reads_a_project(file, cohort) -> None:
    assert_same(read_cohort(file), cohort)
    assert read_cohort([file], name="Other").name == "Other"
    streamed = [item.id for item in stream_subjects(file, atlas=own_atlas(5)) if isinstance(item, Subject)]
    assert streamed == list(cohort.ids)


def test_what_the_user_says_comes_before_the_project(file, tmp_path) -> None:
    table = tmp_path / "groups.csv"
    table.write_text("subject,group,site\na,control,NYU\n")
    other = replace(own_atlas(5), name="other", regions=("V", "W", "X", "Y", "Z"))
    cohort = read_cohort(file, atlas=other, phenotypes=table)
    assert cohort.atlas is other
    assert (cohort["a"].group, cohort["a"].phenotypes["site"]) == ("NC", "NYU")
    with pytest.raises(InputError, match="5 regions"):
        read_cohort(file, atlas="cc200")


def test_project_is_opened_alone(file, tmp_path) -> None:
    (tmp_path / "b.csv").write_text("1,2\n3,4\n")
    with pytest.raises(InputError, match=r"'study.biobgt' is a project.*alone"):
        read_cohort([tmp_path / "b.csv", file])
    with pytest.raises(InputError, match="no project file"):
        read_cohort(tmp_path / "gone.biobgt")


def test_real_subjects_come_back(shared_data, tmp_path) -> None:
    cohort = read_cohort(shared_data / "raw" / "abide", atlas="cc200")
    save_project(cohort, SETTINGS, VIEW, tmp_path / "real.biobgt")
    assert_same(read_cohort(tmp_path / "real.biobgt"), cohort)


def test_command_line_takes_a_project(cohort, tmp_path) -> None:
    def biobgt(*arguments: object) -> str:
        command = [str(Path(sys.executable).with_name("biobgt")), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    save_project(replace(cohort, subjects=cohort.subjects[:2]), SETTINGS, {}, tmp_path / "small.biobgt")
    shown = biobgt("info", tmp_path / "small.biobgt")
    assert "2 subjects · Our own atlas (5 regions) · connectivity, series" in shown
    assert "Groups: 1 ASD" in shown
    assert "SIMULATED: 1 of the subjects" in shown
    biobgt("hubs", tmp_path / "small.biobgt", "--out", tmp_path / "hubs", "--workers", 1)
    tables = [pd.read_csv(path) for path in (tmp_path / "hubs").rglob("*.csv")]
    assert any({"R0", "R4"} <= set(table.astype(str).to_numpy().ravel()) for table in tables)
