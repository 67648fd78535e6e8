"""Files that appear whole or not at all."""

import os
import signal

import pytest
from full_disk import files_end_at

from biobgt.base.files import atomic_file, write_atomically


def test_what_is_written_replaces_what_was_there(tmp_path):
    file = tmp_path / "card.json"
    write_atomically(file, "γ")
    assert file.read_text(encoding="utf-8") == "γ"
    file.chmod(0o640)
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["card.json"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "card.json").write_text("old")
    with files_end_at(1000), pytest.raises(OSError, match="File too large"):
        write_atomically(tmp_path / "card.json", "x" * 5000)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"card.json": "old"}


def test_a_library_that_is_stopped_leaves_nothing(tmp_path):
    def half() -> None:
        with atomic_file(tmp_path / "model") as file:
            file.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_by_the_next(tmp_path):
    child = os.fork()
    if child == 0:
        with atomic_file(tmp_path / "card.json") as file:
            file.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".card.json.")
    write_atomically(tmp_path / "another.json", "{}")
    assert left.exists()  # of another file
    write_atomically(tmp_path / "card.json", "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another.json", "card.json"]


def test_what_another_still_writes_is_left_alone(tmp_path):
    with atomic_file(tmp_path / "card.json") as file:
        file.write_text("first")
        write_atomically(tmp_path / "card.json", "second")
        assert file.read_text() == "first"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"card.json": "first"}
