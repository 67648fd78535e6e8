"""A file that is damaged, foreign, hostile or of another version is a sentence: no crash and no other numbers."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest
from project_contents import SETTINGS, VIEW, assert_same, make_cohort, opened, saved

from biobgt import Cohort, InputError
from biobgt.readers.project import open_project


@pytest.fixture
def cohort() -> Cohort:
    return make_cohort()


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
    ],
)
def test_foreign_bytes_are_a_sentence(content, sentence) -> None:
    with pytest.raises(InputError, match=sentence):
        opened(content)


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([("lab/sub-01.csv", b"1,2\n")], "no project.json"),
        ([("project.json", b"{")], "cannot be read as JSON"),
        ([("project.json", b"[" * 100_000)], "cannot be read as JSON"),
        ([("project.json", b"\xff")], "cannot be read as JSON"),
        ([("project.json", b'{"format": NaN}')], "cannot be read as JSON"),
        ([("project.json", b"[]")], "not a BioBGT project"),
        ([("project.json", b'{"format": "napari project", "version": 1}')], "not a BioBGT project"),
        ([("project.json", b'{"format": "biobgt project"}')], "'version' is missing"),
        ([("project.json", b'{"format": "biobgt project", "version": 1}')], "'arrays' is missing"),
    ],
)
def test_foreign_archive_is_a_sentence(entries, sentence) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in entries:
            archive.writestr(name, data)
    with pytest.raises(InputError, match=sentence):
        opened(stream.getvalue())


@pytest.mark.parametrize("version", [0, 2])
def test_project_of_another_version_is_named(cohort, version) -> None:
    other = rewritten(saved(cohort), change=lambda document: document.update(version=version))
    with pytest.raises(InputError, match=f"format {version}"):
        opened(other)


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
    with pytest.raises(InputError, match=sentence):
        opened(rewritten(saved(cohort), change=change))


def test_entries_that_do_not_belong_are_refused(cohort) -> None:
    content = saved(cohort)
    for name in ("../outside.py", "/etc/cron", "arrays/extra.npy"):
        with pytest.raises(InputError, match="does not belong"):
            opened(rewritten(content, entries=[(name, b"x")]))
    with pytest.raises(InputError, match=r"'arrays/subject_00002.npy' is missing"):
        opened(rewritten(content, leave_out=["arrays/subject_00002.npy"]))
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = rewritten(content, entries=[("project.json", b"{}")])
    with pytest.raises(InputError):
        opened(twice)


def pickled_array() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array([{"run": "code"}], dtype=object), allow_pickle=True)
    return stream.getvalue()


def huge_header() -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    return stream.getvalue()


@pytest.mark.parametrize(
    ("array", "shape"), [(pickled_array(), [1]), (huge_header(), [10**6, 10**6]), (b"", [12, 5]), (b"text", [12, 5])]
)
def test_array_with_the_right_hash_is_still_no_pickle_and_no_bomb(cohort, array, shape) -> None:
    name = "arrays/subject_00001.npy"
    about = {"shape": shape, "sha256": hashlib.sha256(array).hexdigest()}
    hostile = rewritten(
        saved(cohort), change=set_in("arrays", name, to=about), entries=[(name, array)], leave_out=[name]
    )
    with pytest.raises(InputError, match="not the table of numbers"):
        opened(hostile)


def test_archive_that_grows_to_gigabytes_is_refused(cohort) -> None:
    stream = io.BytesIO(saved(cohort))
    with (
        zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("arrays/bomb.npy", "w", force_zip64=True) as entry,
    ):
        for _ in range(300):
            entry.write(bytes(2**20))
    with pytest.raises(InputError, match="would grow from"):
        open_project(stream)


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
    with pytest.raises(InputError, match="would grow more than 50 times as it is unpacked"):
        opened(air)
    monkeypatch.setenv("BIOBGT_MAX_RATIO", "10000")
    assert_same(opened(air).cohort, cohort)


def test_a_document_of_too_many_values_is_refused_before_it_is_parsed(cohort, monkeypatch) -> None:
    content = rewritten(saved(cohort), change=lambda document: document.update(x=[{}] * 1_000))
    monkeypatch.setenv("BIOBGT_MAX_DOCUMENT_VALUES", "2000")
    with pytest.raises(
        InputError, match=r"The project's project\.json has 2,\d+ values; at most 2,000 values are read"
    ):
        opened(content)
    monkeypatch.delenv("BIOBGT_MAX_DOCUMENT_VALUES")
    assert_same(opened(content).cohort, cohort)
