"""Projects open again as they were saved, and damaged ones are refused."""

import datetime
import hashlib
import io
import json
import zipfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import refused, zipped
from typer.testing import CliRunner

from biobgt import Atlas, Cohort, ConnectomeSettings, InputError, Subject, load_atlas, read_cohort
from biobgt.base.errors import Refusal
from biobgt.cli.main import app
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


def saved(cohort: Cohort) -> bytes:
    stream = io.BytesIO()
    save_project(cohort, SETTINGS, VIEW, stream)
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


@pytest.fixture
def cohort() -> Cohort:
    """Three subjects in which every field is set somewhere, on an atlas of their own."""
    rng = np.random.default_rng(0)
    series = rng.standard_normal((12, 5)) / 3
    series[:, 3] = 0
    matrix = np.corrcoef(rng.standard_normal((5, 20)))
    matrix = (matrix + matrix.T) / 2
    source = Source("lab/a.csv", 321, "f" * 64, "csv", {"separator": ",", "header": True, "tr": 0.1 + 0.2})
    about = {"age": 12.3, "site": "Zürich", "n": 3, "left": True, "when": datetime.date(2020, 2, 29)}
    return Cohort(
        name="Unser Kollektiv",
        subjects=(
            Subject("a", series=series, missing_regions=(3,), group="ASD", phenotypes=about, tr=0.1, source=source),
            Subject("b", connectivity=matrix, simulated=True, phenotypes={"iq": float("nan"), "none": None}),
            Subject("a\udcffb/../c", series=series * np.pi, group="first episode"),
        ),
        atlas=own_atlas(5),
        refused=(Refusal("bad.csv", "It is bad."),),
        notes=("One.", "Two."),
        unmatched_subjects=("b",),
        unmatched_rows=("z",),
    )


def test_everything_comes_back_and_the_same_project_makes_the_same_bytes(cohort) -> None:
    content = saved(cohort)
    project = opened(content)
    assert_same(project.cohort, cohort)
    assert (project.settings, project.view) == (SETTINGS, VIEW)
    assert content == saved(cohort)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
TIMES = st.datetimes().map(lambda time: time.replace(fold=0))  # ISO 8601 knows no fold
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | TIMES | st.dates()


@settings(max_examples=50)
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
    refused("no subject", saved, replace(cohort, subjects=()))
    endless = Subject("a", series=np.full((3, 5), np.inf))
    refused("'a' has values that are not finite", saved, replace(cohort, subjects=(endless,)))


# A project as a cohort among others.


@pytest.fixture
def file(cohort, tmp_path) -> Path:
    path = tmp_path / "study.biobgt"
    save_project(cohort, SETTINGS, VIEW, path)
    return path


def test_read_cohort_reads_a_project(file, cohort) -> None:
    assert_same(read_cohort(file), cohort)
    assert read_cohort([file], name="Other").name == "Other"


def test_what_the_user_says_comes_before_the_project(file, tmp_path) -> None:
    table = tmp_path / "groups.csv"
    table.write_text("subject,group,site\na,control,NYU\n")
    other = replace(own_atlas(5), name="other", regions=("V", "W", "X", "Y", "Z"))
    cohort = read_cohort(file, atlas=other, phenotypes=table)
    assert cohort.atlas is other
    assert (cohort["a"].group, cohort["a"].phenotypes["site"]) == ("NC", "NYU")
    refused("5 regions", read_cohort, file, atlas="cc200")


def test_project_is_opened_alone(file, tmp_path) -> None:
    (tmp_path / "b.csv").write_text("1,2\n3,4\n")
    refused(r"'study.biobgt' is a project.*alone", read_cohort, [tmp_path / "b.csv", file])
    refused("no project file", read_cohort, tmp_path / "gone.biobgt")


def test_real_subjects_come_back(shared_data, tmp_path) -> None:
    cohort = read_cohort(shared_data / "raw" / "abide", atlas="cc200")
    save_project(cohort, SETTINGS, VIEW, tmp_path / "real.biobgt")
    assert_same(read_cohort(tmp_path / "real.biobgt"), cohort)


def test_command_line_takes_a_project(cohort, tmp_path) -> None:
    save_project(replace(cohort, subjects=cohort.subjects[:2]), SETTINGS, {}, tmp_path / "small.biobgt")
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "small.biobgt")], env={"COLUMNS": "200"}).output
    assert "2 subjects · Our own atlas (5 regions) · connectivity, series" in shown
    assert "Groups: 1 ASD" in shown
    assert "SIMULATED: 1 of the subjects" in shown


def rewritten(content: bytes, *, change=None, entries=None, leave_out=()) -> bytes:
    """The same archive with another document, further entries, or without some."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "project.json" and change is not None:
                document = json.loads(data)
                change(document)
                data = json.dumps(document).encode()
            if name not in leave_out:
                new.writestr(name, data)
        for name, data in entries or ():
            new.writestr(name, data)
    return result.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not a whole project file"),
        (b"\x80\x04\x95pickle", "not a whole project file"),
        (b"subject,group\n1,AD\n", "not a whole project file"),
        (zipped({"lab/sub-01.csv": b"1,2\n"}), "no project.json"),
        (zipped({"project.json": b"{"}), "cannot be read as JSON"),
        (zipped({"project.json": b"[" * 100_000}), "cannot be read as JSON"),
        (zipped({"project.json": b"\xff"}), "cannot be read as JSON"),
        (zipped({"project.json": b'{"format": NaN}'}), "cannot be read as JSON"),
        (zipped({"project.json": b"[]"}), "not a BioBGT project"),
        (zipped({"project.json": b'{"format": "napari project", "version": 1}'}), "not a BioBGT project"),
        (zipped({"project.json": b'{"format": "biobgt project"}'}), "'version' is missing"),
        (zipped({"project.json": b'{"format": "biobgt project", "version": 1}'}), "'arrays' is missing"),
    ],
)
def test_what_is_no_project_is_a_sentence(content, sentence) -> None:
    refused(sentence, opened, content)


def set_in(*path: str | int, to: object):
    """Return a change of the document: the value at a path becomes another."""

    def change(document) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to

    return change


SUBJECT = ("cohort", "subjects", 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (set_in("version", to=0), "format 0"),
        (set_in("version", to=2), "format 2"),
        (set_in("cohort", to=[]), "'cohort'"),
        (set_in("cohort", "name", to=None), "'name'"),
        (set_in("cohort", "notes", to=[1]), "'notes'"),
        (set_in("cohort", "subjects", to=[]), "no subjects"),
        (set_in("cohort", "subjects", to=[None]), "'subjects'"),
        (set_in(*SUBJECT, "id", to=5), "'id'"),
        (set_in(*SUBJECT, "id", to="b"), "stands twice"),
        (set_in(*SUBJECT, "group", to={"a": 1}), "'group'"),
        (set_in(*SUBJECT, "tr", to=True), "'tr'"),
        (set_in(*SUBJECT, "tr", to=10**400), "'tr'"),
        (set_in(*SUBJECT, "simulated", to=0), "'simulated'"),
        (set_in(*SUBJECT, "kind", to="gossip"), "neither whole series nor connectivity"),
        (set_in(*SUBJECT, "kind", to="connectivity"), "connectivity is square"),
        (set_in(*SUBJECT, "missing_regions", to=[5]), "misses a region"),
        (set_in(*SUBJECT, "missing_regions", to=[True]), "'missing_regions'"),
        (set_in(*SUBJECT, "phenotypes", to={"age": [1]}), "a list stands"),
        (set_in(*SUBJECT, "phenotypes", to={"age": {"date": "soon"}}), "that is none"),
        (set_in(*SUBJECT, "phenotypes", to={"age": {"python": "os.system"}}), "'date'"),
        (set_in(*SUBJECT, "source", "n_bytes", to="many"), "'n_bytes'"),
        (set_in(*SUBJECT, "array", to="arrays/elsewhere.npy"), "elsewhere"),
        (set_in(*SUBJECT, "array", to="arrays/subject_00002.npy"), "share their numbers"),
        (set_in("cohort", "atlas", to={"bundled": "aal90"}), "90"),
        (set_in("cohort", "atlas", to={"bundled": "../aal90"}), "no bundled atlas"),
        (set_in("cohort", "atlas", "regions", to=["R0"] * 5), "stands twice"),
        (set_in("cohort", "atlas", "labels", to={"network": ["N"]}), "labelling does not fit"),
        (set_in("settings", "level", to="much"), "'level'"),
        (set_in("settings", "level", to=-1), "'level' is -1"),
        (set_in("settings", "estimator", to="magic"), "'estimator' cannot be 'magic'"),
        (set_in("view", to={"gamma": [1]}), "neither text nor number"),
        (set_in("arrays", "arrays/subject_00001.npy", "shape", to=[5, 12]), "not the table of numbers"),
        (set_in("arrays", "arrays/subject_00001.npy", "sha256", to="0" * 64), "SHA-256 differs"),
        (set_in("arrays", "../../etc/passwd.npy", to={}), "a name that no project uses"),
        (set_in("arrays", "arrays/other.npy", to={}), "'arrays/other.npy' is missing"),
    ],
)
def test_changed_document_is_a_sentence(cohort, change, sentence) -> None:
    refused(sentence, opened, rewritten(saved(cohort), change=change))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_entries_that_do_not_belong_are_refused(cohort) -> None:
    content = saved(cohort)
    for name in ("../outside.py", "/etc/cron", "arrays/extra.npy", "project.json"):
        refused("does not belong|not a BioBGT project", opened, rewritten(content, entries=[(name, b"{}")]))
    missing = "arrays/subject_00002.npy"
    refused(f"'{missing}' is missing", opened, rewritten(content, leave_out=[missing]))


def written(write, *values, **how) -> bytes:
    stream = io.BytesIO()
    write(stream, *values, **how)
    return stream.getvalue()


PICKLED = written(np.save, np.array([{"run": "code"}], dtype=object), allow_pickle=True)
HUGE = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
HUGE_HEADER = written(np.lib.format.write_array_header_1_0, HUGE)


@pytest.mark.parametrize(
    ("array", "shape"), [(PICKLED, [1]), (HUGE_HEADER, [10**6, 10**6]), (b"", [12, 5]), (b"text", [12, 5])]
)
def test_array_with_the_right_hash_is_still_no_pickle_and_no_bomb(cohort, array, shape) -> None:
    name = "arrays/subject_00001.npy"
    about = {"shape": shape, "sha256": hashlib.sha256(array).hexdigest()}
    hostile = rewritten(
        saved(cohort), change=set_in("arrays", name, to=about), entries=[(name, array)], leave_out=[name]
    )
    refused("not the table of numbers", opened, hostile)


def test_no_cut_and_no_flipped_byte_goes_unnoticed_or_crashes(cohort) -> None:
    """Cut or flipped anywhere, a file opens as it was saved (what was hit means nothing) or not at all."""
    content = saved(cohort)
    rng = np.random.default_rng(0)
    damaged = [content[:end] for end in rng.integers(0, len(content), 40)]
    for place in rng.integers(0, len(content), 160):
        damaged.append(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
    refused = 0
    for other in damaged:
        try:
            project = opened(other)
        except InputError:
            refused += 1
        else:
            assert_same(project.cohort, cohort)
            assert (project.settings, project.view) == (SETTINGS, VIEW)
    assert refused >= 100


def test_a_document_that_is_mostly_air_is_refused_before_it_is_unpacked(cohort, monkeypatch) -> None:
    """Two megabytes of empty lists pack to a few kB, and would take a hundred times that in memory."""
    air = rewritten(saved(cohort), change=lambda document: document.update(x=[[]] * 500_000))
    refused("would grow more than 50 times as it is unpacked", opened, air)
    monkeypatch.setenv("BIOBGT_MAX_RATIO", "10000")
    assert_same(opened(air).cohort, cohort)


def test_a_document_of_too_many_values_is_refused_before_it_is_parsed(cohort, monkeypatch) -> None:
    content = rewritten(saved(cohort), change=lambda document: document.update(x=[{}] * 1_000))
    monkeypatch.setenv("BIOBGT_MAX_DOCUMENT_VALUES", "2000")
    refused(r"The project's project\.json has 2,\d+ values; at most 2,000 values are read", opened, content)
    monkeypatch.delenv("BIOBGT_MAX_DOCUMENT_VALUES")
    assert_same(opened(content).cohort, cohort)
