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
SETTINGS = ConnectomeSettings(level=0.25)


@pytest.fixture
def cohort(rng: np.random.Generator) -> Cohort:
    subjects = (Subject(f"s{i}", series=rng.standard_normal((30, 4)), group="NC") for i in range(3))
    return Cohort("mine", tuple(subjects), numbered_atlas(4))


def test_a_copy_comes_back_as_it_was(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {"subject": "s1"})
    (copy,) = Copies(tmp_path).listed()
    assert (copy.key, copy.n_subjects) == (KEY, 3)
    project, _ = Copies(tmp_path).open(KEY)
    assert project.settings == SETTINGS
    assert project.view == {"subject": "s1"}
    for before, after in zip(cohort, project.cohort, strict=True):
        np.testing.assert_array_equal(before.series, after.series)


def test_a_copy_is_named_by_cohort_and_time(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    alone = cohort.select(lambda subject: subject.id == "s1")
    Copies(tmp_path).save(KEY[::-1], alone, SETTINGS, {})
    names = {copy.key: copy.name for copy in Copies(tmp_path).listed()}
    assert names[KEY] == f"mine: s0 to s2, 3 NC, {cohort.atlas.title}"
    assert names[KEY[::-1]] == f"mine: s1, 1 NC, {cohort.atlas.title}"
    then = time.mktime((2026, 3, 7, 9, 5, 30, 0, 0, -1))
    assert autosave.Copy(KEY, "mine", 3, time.time() - then).written == "7 March 2026, 09:05"


def test_the_list_of_figures_comes_back(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {}, ["one"])
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {}, ["one", "two"], same_subjects=True)
    assert Copies(tmp_path).open(KEY)[1] == ("one", "two")
    about = json.loads((tmp_path / f"{KEY}.json").read_text())
    (tmp_path / f"{KEY}.json").write_text(json.dumps(about | {"figures": ["one", 2, None]}))
    assert Copies(tmp_path).open(KEY)[1] == ("one",)


def test_results_go_where_the_subjects_go(tmp_path: Path, cohort: Cohort) -> None:
    other = KEY[::-1]
    for key in (KEY, other):
        Copies(tmp_path).save(key, cohort, SETTINGS, {})
    (tmp_path / f"{KEY}.results").mkdir()
    ((tmp_path / f"{KEY}.results") / "x.result").write_text("x")
    Copies(tmp_path).take_results(other, KEY)
    Copies(tmp_path).forget(KEY)
    assert ((tmp_path / f"{other}.results") / "x.result").read_text() == "x"
    Copies(tmp_path).forget(other)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / f"{KEY}.results").mkdir()  # of a page that was closed before its copy was written
    assert Copies(tmp_path).listed() == []
    os.utime((tmp_path / f"{KEY}.results"), (0, 0))
    assert Copies(tmp_path).listed() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="other systems have other links and pipes")
def test_results_that_are_a_link_are_left_alone(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "autosave", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "x.result").touch()
    (folder / f"{KEY}.results").symlink_to(elsewhere)
    Copies(folder).take_results(KEY[::-1], KEY)
    Copies(folder).forget(KEY)
    Copies(folder).switch(on=False)
    assert (elsewhere / "x.result").exists()


def test_settings_change_without_writing_the_subjects_again(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    written = (tmp_path / f"{KEY}.biobgt").stat().st_mtime_ns
    Copies(tmp_path).save(KEY, cohort, ConnectomeSettings(level=0.5), {"subject": "s2"}, same_subjects=True)
    assert (tmp_path / f"{KEY}.biobgt").stat().st_mtime_ns == written
    project, _ = Copies(tmp_path).open(KEY)
    assert (project.settings.level, project.view) == (0.5, {"subject": "s2"})


def test_a_copy_that_another_page_took_over_is_written_anew(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    Copies(tmp_path).forget(KEY)
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {"subject": "s2"}, same_subjects=True)
    assert Copies(tmp_path).open(KEY)[0].view == {"subject": "s2"}
    assert len(Copies(tmp_path).listed()) == 1


def test_nothing_is_left_of_copies_once_switched_off(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {"subject": "s1"})
    (tmp_path / f"{KEY}.biobgt").unlink()
    Copies(tmp_path).switch(on=False)
    assert [path.name for path in tmp_path.iterdir()] == ["off"]


def test_copies_are_listed_while_another_page_writes_and_deletes(
    tmp_path: Path, cohort: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    (tmp_path / f".{KEY[::-1]}.biobgt.x1.part").write_bytes(b"half of it")
    listed = Path.glob

    def found_and_then_gone(folder: Path, pattern: str) -> list[Path]:
        found = list(listed(folder, pattern))
        return [*found, folder / "fedcba9876543210.biobgt"] if pattern == "*.biobgt" else found

    monkeypatch.setattr(Path, "glob", found_and_then_gone)
    assert [copy.key for copy in Copies(tmp_path).listed()] == [KEY]
    assert (tmp_path / f".{KEY[::-1]}.biobgt.x1.part").exists()


@pytest.mark.skipif(os.name != "posix", reason="other systems keep rights otherwise")
def test_only_its_owner_reads_a_copy(tmp_path: Path, cohort: Cohort) -> None:
    folder = tmp_path / "share" / "autosave"
    before = os.umask(0)
    try:
        Copies(folder).save(KEY, cohort, SETTINGS, {})
        Copies(folder).switch(on=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_full_disk_leaves_the_last_copy(tmp_path: Path, cohort: Cohort, monkeypatch: pytest.MonkeyPatch) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})

    def full(*arguments: object) -> None:
        arguments[3].write(b"half of it")  # type: ignore[attr-defined]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(autosave, "save_project", full)
    with pytest.raises(OSError, match="No space"):
        Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    assert len(Copies(tmp_path).open(KEY)[0].cohort) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{KEY}.biobgt", f"{KEY}.json"]


def test_few_are_kept_and_none_for_long(tmp_path: Path, cohort: Cohort) -> None:
    keys = [f"{i:016x}" for i in range(5)]
    for age, key in zip(range(50, 0, -10), keys, strict=True):
        Copies(tmp_path).save(key, cohort, SETTINGS, {})
        for path in tmp_path.glob(f"{key}.*"):
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
    assert [copy.key for copy in Copies(tmp_path).listed()] == keys[:1:-1]
    for path in tmp_path.glob(f"{keys[4]}.*"):
        os.utime(path, (0, 0))
    assert [copy.key for copy in Copies(tmp_path).listed()] == [keys[3], keys[2]]
    assert not list(tmp_path.glob(f"{keys[4]}.*"))


def test_forgetting_and_switching_off_delete(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    Copies(tmp_path).forget(KEY)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="not there"):
        Copies(tmp_path).open(KEY)
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    assert Copies(tmp_path).on
    Copies(tmp_path).switch(on=False)
    assert not Copies(tmp_path).on
    assert [path.suffix for path in tmp_path.iterdir()] == [""]
    Copies(tmp_path).switch(on=True)
    assert Copies(tmp_path).on


def test_what_is_damaged_is_not_offered(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    (tmp_path / f"{KEY}.json").write_text('{"name": 3}')
    assert Copies(tmp_path).listed() == []
    with pytest.raises(InputError):
        Copies(tmp_path).open("../../etc/passwd")


@pytest.mark.parametrize("name", [f"{KEY}.json", f"{KEY}.biobgt"])
def test_what_cannot_be_read_for_a_while_is_there_afterwards(
    tmp_path: Path, cohort: Cohort, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    opened = os.open

    def failing(path: Path, *arguments: int, **named: int) -> int:
        if Path(path).name == name:
            raise OSError(errno.EIO, "Input/output error")
        return opened(path, *arguments, **named)

    with monkeypatch.context() as disk:
        disk.setattr(os, "open", failing)
        disk.setattr(Path, "read_bytes", lambda path: os.close(failing(path, os.O_RDONLY)))
        Copies(tmp_path).listed()
        with pytest.raises(InputError):
            Copies(tmp_path).open(KEY)
    assert [copy.key for copy in Copies(tmp_path).listed()] == [KEY]
    assert len(Copies(tmp_path).open(KEY)[0].cohort) == 3


def test_settings_that_are_damaged_do_not_cost_the_subjects(tmp_path: Path, cohort: Cohort) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    (tmp_path / f"{KEY}.json").write_text("{")
    assert Copies(tmp_path).listed() == []
    assert (tmp_path / f"{KEY}.biobgt").exists()


@pytest.mark.skipif(os.name != "posix", reason="other systems have other links and pipes")
def test_a_folder_that_is_a_link_is_left_alone(tmp_path: Path, cohort: Cohort) -> None:
    elsewhere = tmp_path / "elsewhere"
    Copies(elsewhere).save(KEY, cohort, SETTINGS, {})
    elsewhere.chmod(0o755)
    link = tmp_path / "autosave"
    link.symlink_to(elsewhere)
    assert Copies(link).listed() == []
    with pytest.raises(OSError, match="link"):
        Copies(link).save(KEY[::-1], cohort, SETTINGS, {})
    with pytest.raises(OSError, match="link"):
        Copies(link).switch(on=False)
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755
    assert sorted(path.name for path in elsewhere.iterdir()) == [f"{KEY}.biobgt", f"{KEY}.json"]


@pytest.mark.skipif(os.name != "posix", reason="other systems have other links and pipes")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("suffix", [".biobgt", ".json"])
@pytest.mark.parametrize("what", ["pipe", "link", "folder"])
def test_what_is_no_regular_file_of_ours_is_neither_waited_for_nor_touched(
    tmp_path: Path, cohort: Cohort, suffix: str, what: str
) -> None:
    folder, other = tmp_path / "autosave", KEY[::-1]
    for key in (KEY, other):
        Copies(folder).save(key, cohort, SETTINGS, {})
    strange = folder / f"{other}{suffix}"
    real = strange.rename(tmp_path / "real")
    make = {"pipe": os.mkfifo, "folder": os.mkdir, "link": lambda path: path.symlink_to(real)}
    make[what](strange)
    (folder / f"notes{suffix}").write_text("of somebody else")
    assert [copy.key for copy in Copies(folder).listed()] == [KEY]
    with pytest.raises(InputError):
        Copies(folder).open(other)
    Copies(folder).switch(on=False)
    assert sorted(path.name for path in folder.iterdir()) == sorted([strange.name, f"notes{suffix}", "off"])
    assert real.exists()


def test_a_date_in_the_future_is_today_s(tmp_path: Path, cohort: Cohort, monkeypatch: pytest.MonkeyPatch) -> None:
    Copies(tmp_path).save(KEY, cohort, SETTINGS, {})
    for path in tmp_path.iterdir():
        os.utime(path, (time.time() + 1e9, time.time() + 1e9))
    (copy,) = Copies(tmp_path).listed()
    assert copy.age_s == 0
    now = time.time()
    monkeypatch.setattr(autosave.time, "time", lambda: now + (autosave.KEPT_DAYS + 1) * 86400)
    assert Copies(tmp_path).listed() == []
    assert list(tmp_path.iterdir()) == []


def test_where_copies_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Copies().folder == tmp_path / "biobgt" / "autosave"
