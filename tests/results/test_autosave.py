"""Copies of the user's subjects: whole or not at all, private, few, and gone when forgotten."""

import errno
import json
import os
import stat
import time
from pathlib import Path

import numpy as np
import pytest

from biobgt import Cohort, ConnectomeSettings, InputError, Subject
from biobgt.data.atlas import numbered_atlas
from biobgt.results import autosave
from biobgt.results.autosave import Copies

KEY = "0123456789abcdef"
OTHER, PROJECT, ABOUT, RESULTS = KEY[::-1], f"{KEY}.biobgt", f"{KEY}.json", f"{KEY}.results"
SETTINGS = ConnectomeSettings(level=0.25)


@pytest.fixture
def cohort(rng: np.random.Generator) -> Cohort:
    subjects = (Subject(f"s{i}", series=rng.standard_normal((30, 4)), group="NC") for i in range(3))
    return Cohort("mine", tuple(subjects), numbered_atlas(4))


@pytest.fixture
def copies(tmp_path: Path, cohort: Cohort) -> Copies:
    """A copy of the cohort under KEY."""
    found = Copies(tmp_path)
    found.save(KEY, cohort, SETTINGS, {})
    return found


def test_a_copy_comes_back_as_it_was(copies, cohort):
    copies.save(KEY, cohort, SETTINGS, {"subject": "s1"})
    (copy,) = copies.listed()
    assert (copy.key, copy.n_subjects) == (KEY, 3)
    project, _ = copies.open(KEY)
    assert project.settings == SETTINGS
    assert project.view == {"subject": "s1"}
    for before, after in zip(cohort, project.cohort, strict=True):
        np.testing.assert_array_equal(before.series, after.series)


def test_a_copy_is_named_by_cohort_and_time(copies, cohort):
    alone = cohort.select(lambda subject: subject.id == "s1")
    copies.save(OTHER, alone, SETTINGS, {})
    names = {copy.key: copy.name for copy in copies.listed()}
    assert names[KEY] == f"mine: s0 to s2, 3 NC, {cohort.atlas.title}"
    assert names[OTHER] == f"mine: s1, 1 NC, {cohort.atlas.title}"
    then = time.mktime((2026, 3, 7, 9, 5, 30, 0, 0, -1))
    assert autosave.Copy(KEY, "mine", 3, time.time() - then).written == "7 March 2026, 09:05"


def test_the_list_of_figures_comes_back(copies, cohort):
    copies.save(KEY, cohort, SETTINGS, {}, ["one"])
    copies.save(KEY, cohort, SETTINGS, {}, ["one", "two"], same_subjects=True)
    assert copies.open(KEY)[1] == ("one", "two")
    about = json.loads(copies.folder.joinpath(ABOUT).read_text())
    copies.folder.joinpath(ABOUT).write_text(json.dumps(about | {"figures": ["one", 2, None]}))
    assert copies.open(KEY)[1] == ("one",)


def test_results_go_where_the_subjects_go(copies, cohort):
    copies.save(OTHER, cohort, SETTINGS, {})
    results = copies.folder / RESULTS
    results.mkdir()
    (results / "x.result").write_text("x")
    taken = copies.take_results(OTHER, KEY)
    copies.forget(KEY)
    assert (taken / "x.result").read_text() == "x"
    copies.forget(OTHER)
    assert list(copies.folder.iterdir()) == []
    results.mkdir()  # of a page that was closed before its copy was written
    assert copies.listed() == []
    os.utime(results, (0, 0))
    assert copies.listed() == []
    assert list(copies.folder.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="other systems have other links and pipes")
def test_results_that_are_a_link_are_left_alone(tmp_path):
    folder, elsewhere = tmp_path / "autosave", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "x.result").touch()
    (folder / f"{KEY}.results").symlink_to(elsewhere)
    Copies(folder).take_results(OTHER, KEY)
    Copies(folder).forget(KEY)
    Copies(folder).switch(on=False)
    assert (elsewhere / "x.result").exists()


def test_settings_change_without_writing_the_subjects_again(copies, cohort):
    written = copies.folder.joinpath(PROJECT).stat().st_mtime_ns
    copies.save(KEY, cohort, ConnectomeSettings(level=0.5), {"subject": "s2"}, same_subjects=True)
    assert copies.folder.joinpath(PROJECT).stat().st_mtime_ns == written
    project, _ = copies.open(KEY)
    assert (project.settings.level, project.view) == (0.5, {"subject": "s2"})
    copies.forget(KEY)  # as another page does that took it over
    copies.save(KEY, cohort, SETTINGS, {"subject": "s1"}, same_subjects=True)
    assert copies.open(KEY)[0].view == {"subject": "s1"}
    assert len(copies.listed()) == 1


def test_copies_are_listed_while_another_page_writes_and_deletes(copies, monkeypatch):
    (copies.folder / f".{OTHER}.biobgt.x1.part").write_bytes(b"half of it")
    listed = Path.glob

    def found_and_then_gone(folder: Path, pattern: str) -> list[Path]:
        found = list(listed(folder, pattern))
        return [*found, folder / "fedcba9876543210.biobgt"] if pattern == "*.biobgt" else found

    monkeypatch.setattr(Path, "glob", found_and_then_gone)
    assert [copy.key for copy in copies.listed()] == [KEY]
    assert (copies.folder / f".{OTHER}.biobgt.x1.part").exists()


@pytest.mark.skipif(os.name != "posix", reason="other systems keep rights otherwise")
def test_only_its_owner_reads_a_copy(tmp_path, cohort):
    folder = tmp_path / "share" / "autosave"
    before = os.umask(0)
    try:
        Copies(folder).save(KEY, cohort, SETTINGS, {})
        Copies(folder).switch(on=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_full_disk_leaves_the_last_copy(copies, cohort, monkeypatch):

    def full(cohort, settings, view, file):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(autosave, "save_project", full)
    with pytest.raises(OSError, match="No space"):
        copies.save(KEY, cohort, SETTINGS, {})
    assert len(copies.open(KEY)[0].cohort) == 3
    assert sorted(path.name for path in copies.folder.iterdir()) == [PROJECT, ABOUT]


def test_few_are_kept_and_none_for_long(copies, cohort):
    copies.forget(KEY)
    keys = [f"{i:016x}" for i in range(5)]
    for age, key in zip(range(50, 0, -10), keys, strict=True):
        copies.save(key, cohort, SETTINGS, {})
        for path in copies.folder.glob(f"{key}.*"):
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
    assert [copy.key for copy in copies.listed()] == keys[:1:-1]
    for path in copies.folder.glob(f"{keys[4]}.*"):
        os.utime(path, (0, 0))
    assert [copy.key for copy in copies.listed()] == [keys[3], keys[2]]
    assert not list(copies.folder.glob(f"{keys[4]}.*"))


def test_forgetting_and_switching_off_delete(copies, cohort):
    copies.forget(KEY)
    assert list(copies.folder.iterdir()) == []
    with pytest.raises(InputError, match="not there"):
        copies.open(KEY)
    for key in (KEY, OTHER):
        copies.save(key, cohort, SETTINGS, {})
    copies.folder.joinpath(PROJECT).unlink()
    assert copies.on
    copies.switch(on=False)
    assert not copies.on
    assert [path.name for path in copies.folder.iterdir()] == ["off"]
    copies.switch(on=True)
    assert copies.on


@pytest.mark.parametrize("damage", ['{"name": 3}', "{"])
def test_what_is_damaged_is_not_offered_and_does_not_cost_the_subjects(copies, damage):
    copies.folder.joinpath(ABOUT).write_text(damage)
    assert copies.listed() == []
    assert copies.folder.joinpath(PROJECT).exists()
    with pytest.raises(InputError):
        copies.open("../../etc/passwd")


@pytest.mark.parametrize("name", [ABOUT, PROJECT])
def test_what_cannot_be_read_for_a_while_is_there_afterwards(copies, monkeypatch, name):
    opened = os.open

    def failing(path: Path, *arguments: int, **named: int) -> int:
        if Path(path).name == name:
            raise OSError(errno.EIO, "Input/output error")
        return opened(path, *arguments, **named)

    with monkeypatch.context() as disk:
        disk.setattr(os, "open", failing)
        disk.setattr(Path, "read_bytes", lambda path: os.close(failing(path, os.O_RDONLY)))
        copies.listed()
        with pytest.raises(InputError):
            copies.open(KEY)
    assert [copy.key for copy in copies.listed()] == [KEY]
    assert len(copies.open(KEY)[0].cohort) == 3


@pytest.mark.skipif(os.name != "posix", reason="other systems have other links and pipes")
def test_a_folder_that_is_a_link_is_left_alone(tmp_path, cohort):
    elsewhere = tmp_path / "elsewhere"
    Copies(elsewhere).save(KEY, cohort, SETTINGS, {})
    elsewhere.chmod(0o755)
    link = tmp_path / "autosave"
    link.symlink_to(elsewhere)
    assert Copies(link).listed() == []
    with pytest.raises(OSError, match="link"):
        Copies(link).save(OTHER, cohort, SETTINGS, {})
    with pytest.raises(OSError, match="link"):
        Copies(link).switch(on=False)
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755
    assert sorted(path.name for path in elsewhere.iterdir()) == [PROJECT, ABOUT]


@pytest.mark.skipif(os.name != "posix", reason="other systems have other links and pipes")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("suffix", [".biobgt", ".json"])
@pytest.mark.parametrize("what", ["pipe", "link", "folder"])
def test_what_is_no_regular_file_of_ours_is_neither_waited_for_nor_touched(tmp_path, cohort, suffix, what):
    copies = Copies(tmp_path / "autosave")
    for key in (KEY, OTHER):
        copies.save(key, cohort, SETTINGS, {})
    strange = copies.folder / f"{OTHER}{suffix}"
    real = strange.rename(tmp_path / "real")
    make = {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda path: path.symlink_to(real)}
    make[what](strange)
    (copies.folder / f"notes{suffix}").write_text("of somebody else")
    assert [copy.key for copy in copies.listed()] == [KEY]
    with pytest.raises(InputError):
        copies.open(OTHER)
    copies.switch(on=False)
    assert sorted(path.name for path in copies.folder.iterdir()) == sorted([strange.name, f"notes{suffix}", "off"])
    assert real.exists()


def test_a_date_in_the_future_is_today_s(copies, monkeypatch):
    for path in copies.folder.iterdir():
        os.utime(path, (time.time() + 1e9, time.time() + 1e9))
    (copy,) = copies.listed()
    assert copy.age_s == 0
    now = time.time()
    monkeypatch.setattr(autosave.time, "time", lambda: now + (autosave.KEPT_DAYS + 1) * 86400)
    assert copies.listed() == []
    assert list(copies.folder.iterdir()) == []


def test_where_copies_lie(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Copies().folder == tmp_path / "biobgt" / "autosave"
