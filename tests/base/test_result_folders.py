"""Result folders: old or new, whole, wherever a real process is killed; nobody else's files are touched."""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import biobgt.base.folders
from biobgt.base.errors import InputError
from biobgt.base.files import sha256
from biobgt.base.folders import MANIFEST, _complete_earlier, result_folder

CALLS = ("os.", "shutil.", "tempfile.")
ABOUT = {"command": "biobgt tables", "version": "1"}
OLD, NEW = ("a", "b", "gone"), ("a", "b", "c")


def write(out, words, names=("a",), *, job="tables"):
    with result_folder(out, job=job, about=ABOUT) as folder:
        (folder / job).mkdir()
        for name in names:
            (folder / job / f"{name}.csv").write_text(words)
        (folder / f"{job}_summary.csv").write_text(words)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def jobs_of(folder):
    return json.loads((folder / MANIFEST).read_text("utf-8"))["jobs"]


def changed(folder):
    """Files of the manifest that are not as it says."""
    files = {name: about for job in jobs_of(folder).values() for name, about in job["files"].items()}
    return [name for name, about in files.items() if sha256(folder / name) != about["sha256"]]


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


def killed(out, point, words, names):
    """Do the job in a process of its own that kills itself at a point; True where it lived to its end.

    The point is the number of the call to the file system, from the moment in which the results are put in place.
    """
    child = os.fork()
    if child == 0:
        try:
            _kill_at(point)
            write(out, words, names)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code == 0


def _kill_at(point):
    finish, counted = biobgt.base.folders._finish, -1

    def hook(event, _):
        nonlocal counted
        if counted >= 0 and event.startswith(CALLS):
            counted += 1
            if counted == point:
                os.kill(os.getpid(), signal.SIGKILL)

    def watched(*given, **named):
        nonlocal counted
        counted = 0
        finish(*given, **named)

    sys.addaudithook(hook)
    biobgt.base.folders._finish = watched


@pytest.fixture
def out(tmp_path):
    """A folder of older results."""
    write(tmp_path / "out", "old", OLD)
    return tmp_path / "out"


def of(words, names):
    return {**{f"tables/{name}.csv": words for name in names}, "tables_summary.csv": words}


def test_a_folder_is_made_with_a_manifest_that_holds(tmp_path):
    out = tmp_path / "deep" / "out"
    write(out, "x", OLD)
    jobs = jobs_of(out)
    assert set(jobs["tables"]["files"]) == {"tables/a.csv", "tables/b.csv", "tables/gone.csv", "tables_summary.csv"}
    assert jobs["tables"]["command"] == "biobgt tables"
    assert changed(out) == []
    assert listed(tmp_path / "deep") == ["out"]
    (out / "tables" / "a.csv").write_text("y")
    assert changed(out) == ["tables/a.csv"]
    assert out.stat().st_mode & 0o777 == (tmp_path / "deep").stat().st_mode & 0o777  # like any other new folder


def test_subjects_that_are_gone_leave_no_table_and_other_jobs_keep_theirs(out, tmp_path):
    write(out, "hubs", ("gone",), job="hubs")
    before = out.stat().st_ino
    write(out, "new", NEW)
    assert contents(out) == of("new", NEW) | {"hubs/gone.csv": "hubs", "hubs_summary.csv": "hubs"}
    assert out.stat().st_ino != before  # exchanged as a whole
    assert set(jobs_of(out)) == {"tables", "hubs"}
    assert changed(out) == []
    assert listed(tmp_path) == ["out"]


def test_a_users_files_stay_and_so_does_a_table_that_somebody_changed(out, tmp_path):
    (out / "notes.txt").write_text("mine")
    (out / "tables" / "mine.csv").write_text("mine")
    (out / "link").symlink_to(tmp_path)
    before = out.stat().st_ino
    write(out, "new", NEW)
    found = {name: text for name, text in contents(out).items() if not name.startswith("link")}
    assert found == of("new", NEW) | {"notes.txt": "mine", "tables/mine.csv": "mine"}
    assert out.stat().st_ino == before  # it stayed, with the new files moved in
    (out / "tables" / "c.csv").write_text("corrected by hand")
    write(out, "newer", ("a",))
    assert (out / "tables" / "c.csv").read_text() == "corrected by hand"
    assert not (out / "tables" / "b.csv").exists()
    assert listed(out) == [MANIFEST, "link", "notes.txt", "tables", "tables_summary.csv"]


def test_the_working_directory_is_not_exchanged_under_its_shell(out, monkeypatch):
    monkeypatch.chdir(out)
    write(Path(), "new", NEW)
    assert listed(Path()) == [MANIFEST, "tables", "tables_summary.csv"]
    assert listed(Path("tables")) == ["a.csv", "b.csv", "c.csv"]


def test_a_folder_behind_a_link_stays_behind_it(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    write(tmp_path / "out", "old")
    write(tmp_path / "out", "new")
    assert (tmp_path / "out").is_symlink()
    assert contents(tmp_path / "real")["tables/a.csv"] == "new"


def test_two_jobs_that_end_together_both_stay(tmp_path):
    with (
        result_folder(tmp_path / "out", job="one", about=ABOUT) as one,
        result_folder(tmp_path / "out", job="two", about=ABOUT) as two,
    ):
        (one / "one.csv").write_text("1")
        (two / "two.csv").write_text("2")
    assert contents(tmp_path / "out") == {"one.csv": "1", "two.csv": "2"}


@pytest.mark.parametrize("names", [["/etc/x"], ["../x.csv"], ["tables/../../x.csv"], ["tables/\ud800.csv"]])
def test_a_manifest_that_names_files_elsewhere_deletes_nothing(out, tmp_path, names):
    (tmp_path / "x.csv").write_text("old")
    document = json.loads((out / MANIFEST).read_text())
    about = document["jobs"]["tables"]["files"]["tables/gone.csv"]
    document["jobs"]["tables"]["files"] |= dict.fromkeys(names, about)
    (out / MANIFEST).write_text(json.dumps(document))
    write(out, "new", NEW)
    assert (tmp_path / "x.csv").read_text() == "old"
    assert (out / "tables" / "gone.csv").exists()  # such a manifest is taken for none


def test_words_that_are_no_text_are_written_and_read_again(tmp_path):
    out, odd = tmp_path / "out", "patient-\udcff"
    with result_folder(out, job="tables", about=ABOUT | {"command": f"biobgt info {odd}"}) as folder:
        (folder / "a.csv").write_text("1")
    assert jobs_of(out)["tables"]["command"] == f"biobgt info {odd}"
    write(out, "new")
    assert set(jobs_of(out)) == {"tables"}
    document = json.loads((out / MANIFEST).read_text())
    document["jobs"]["tables"]["command"] = "\ud800"
    (out / MANIFEST).write_text(json.dumps(document))
    write(out, "new", job="hubs")
    assert set(jobs_of(out)) == {"tables", "hubs"}


def test_a_table_behind_a_link_is_not_deleted(out, tmp_path):
    (out / "tables").rename(tmp_path / "elsewhere")
    (out / "tables").symlink_to(tmp_path / "elsewhere")
    write(out, "new", NEW)
    assert (tmp_path / "elsewhere" / "gone.csv").read_text() == "old"


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 1, "jobs": {"x": 3}}', '{"format": 9, "jobs": {}}'])
def test_a_damaged_manifest_is_taken_for_none(out, damage):
    (out / MANIFEST).write_text(damage)
    write(out, "new", NEW)
    assert contents(out)["tables/gone.csv"] == "old"
    assert contents(out)["tables/a.csv"] == "new"
    assert changed(out) == []


@pytest.mark.parametrize("kept", ["", "notes.txt"], ids=["own folder", "with a user's file"])
def test_killed_anywhere_it_is_the_old_or_the_new_and_the_next_job_clears_up(tmp_path, kept):
    """Kill a real process at each of its calls to the file system from the moment it puts the results in place."""
    seen, mine = set(), {kept: "mine"} if kept else {}
    old, new = of("old", OLD) | mine, of("new", NEW) | mine
    for point in range(1, 200):
        out = tmp_path / f"{point}" / "out"
        write(out, "old", OLD)
        if kept:
            (out / kept).write_text("mine")
        lived = killed(out, point, "new", NEW)
        if out.exists() and not kept:  # at this very moment
            assert contents(out) in (old, new), point
        assert out.exists() or not kept, point
        _complete_earlier(out)  # what the next job begins with
        assert contents(out) in (old, new), point
        assert changed(out) == []
        assert [path.name for path in out.parent.rglob(".*")] == [], point
        seen.add(contents(out)["tables_summary.csv"])
        if lived:
            break
    assert lived, "so many calls were not enough"
    assert seen == {"old", "new"}


def test_what_a_live_job_writes_is_not_touched(tmp_path):
    write(tmp_path / "out", "old")
    with result_folder(tmp_path / "out", job="slow", about=ABOUT) as folder:
        write(tmp_path / "out", "new")
        (folder / "slow.csv").write_text("slow")
    assert set(contents(tmp_path / "out")) == {"tables/a.csv", "tables_summary.csv", "slow.csv"}


def test_what_does_not_say_whose_it_is_is_cleared_when_it_is_old(tmp_path):
    left = tmp_path / "out" / ".unfinished-abc"
    left.mkdir(parents=True)
    (left / "lock").touch()
    write(tmp_path / "out", "new")
    assert left.exists()  # somebody may be at it
    os.utime(left, (time.time() - 100_000,) * 2)
    write(tmp_path / "out", "newer")
    assert not left.exists()


def test_a_refused_job_leaves_nothing(tmp_path):
    with suppress(InputError), result_folder(tmp_path / "a" / "out", job="x", about=ABOUT):
        raise InputError("no")
    assert list(tmp_path.iterdir()) == []


def _plant(place, target):
    """What a job into a folder leaves that is killed when its results are finished and not yet moved in."""
    (place / ".finished-x" / "results").mkdir(parents=True)
    (place / ".finished-x" / "lock").write_text(target)
    (place / ".finished-x" / "results" / "planted.csv").write_text("planted")


def test_what_somebody_else_left_for_the_folder_is_not_taken_in(tmp_path, monkeypatch):
    _plant(tmp_path, "out")
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: os.geteuid() + 1)
        write(tmp_path / "out", "new")
    assert "planted.csv" not in contents(tmp_path / "out")
    write(tmp_path / "out", "newer")  # our own is
    assert contents(tmp_path / "out")["planted.csv"] == "planted"


def test_results_for_another_folder_stay_with_it(tmp_path):
    inner = tmp_path / "out" / "out"
    inner.mkdir(parents=True)
    _plant(tmp_path / "out", ".")  # for the outer folder, in it
    write(inner, "new")
    assert "planted.csv" not in contents(inner)
    _complete_earlier(tmp_path / "out")
    assert (tmp_path / "out" / "planted.csv").exists()


def test_results_are_on_the_disk_before_they_have_their_names(tmp_path, monkeypatch):
    synced, named = set(), []
    fsync, put = os.fsync, biobgt.base.folders._put_in_place

    def watch(work, target):
        named.append({path.stat().st_ino for path in (work / "results").rglob("*")})
        put(work, target)

    monkeypatch.setattr(os, "fsync", lambda handle: (synced.add(os.fstat(handle).st_ino), fsync(handle)))
    monkeypatch.setattr(biobgt.base.folders, "_put_in_place", watch)
    for words in ("old", "new"):
        synced.clear()
        write(tmp_path / "out", words, OLD)
        assert named[-1] <= synced
        assert tmp_path.stat().st_ino in synced, "the new name, too"
