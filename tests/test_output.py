"""Files that appear whole or not at all."""

import pytest
from full_disk import files_end_at

from biobgt.output import atomic_file, write_atomically


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
