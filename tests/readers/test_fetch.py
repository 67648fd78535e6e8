"""Fetching from a server of our own that looks like the real one."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from abide_mirror import Handler, abide_server
from reading import refused

from biobgt import read_cohort
from biobgt.readers.fetch import FetchOptions, abide_cohort, data_folder, fetch_abide, find_cohort


@pytest.fixture
def mirror(tmp_path, rng):
    """The server's address, and the list of files it was asked for."""
    with abide_server(tmp_path / "server", rng) as served:
        yield served


@pytest.fixture
def fetch(tmp_path, mirror):
    """Fetch from that server into a folder."""

    def fetched(progress=None, **options):
        return fetch_abide(tmp_path / "out", FetchOptions(mirror=mirror[0], **options), progress=progress)

    return fetched


@pytest.fixture
def asked(mirror):
    return mirror[1]


def test_fetch_gives_a_folder_that_reads_as_a_cohort(asked, fetch):
    seen = []
    cohort = read_cohort(fetch(lambda *told: seen.append(told)))
    assert cohort.ids == ("Pitt_0050003", "Pitt_0050004")  # the third failed ABIDE's quality check
    assert dict(cohort.group_sizes) == {"NC": 1, "ASD": 1}
    assert cohort["Pitt_0050004"].phenotypes["sex"] == "F"
    assert np.isfinite(cohort["Pitt_0050003"].series).all()
    assert seen == [(1, 2), (2, 2)]
    assert "Pitt_0050005_rois_cc200.1D" not in asked


def test_a_second_run_fetches_only_what_is_missing(fetch, asked):
    fetch(n_subjects=1)
    asked.clear()
    fetch()
    assert asked == ["Pitt_0050004_rois_cc200.1D"]


def test_what_was_fetched_is_found_by_its_name_where_nilearn_keeps_it(tmp_path, mirror, monkeypatch):
    monkeypatch.delenv("NILEARN_DATA", raising=False)
    assert data_folder().name == "nilearn_data"
    monkeypatch.setenv("NILEARN_DATA", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data"
    monkeypatch.chdir(tmp_path)
    refused("no file", find_cohort, "abide")
    fetch_abide(data_folder(), FetchOptions(mirror=mirror[0]))
    assert find_cohort("abide").ids == ("Pitt_0050003", "Pitt_0050004")
    (tmp_path / "abide").mkdir()
    refused("nothing", find_cohort, "abide")  # an own folder of that name comes first


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_in_the_middle_of_a_file_the_next_run_fetches_it_whole(
    tmp_path, fetch, asked, mirror, monkeypatch, number
):
    half_sent, over = threading.Event(), threading.Event()
    send = Handler.copyfile

    def send_half(handler, source, target):
        if "0050004" not in handler.path:
            send(handler, source, target)
            return
        content = source.read()
        target.write(content[: len(content) // 2])
        target.flush()
        half_sent.set()
        over.wait(60)

    command = "import sys; from biobgt.cli import main; sys.argv[0] = 'biobgt'; main()"
    words = ["fetch", "abide", "--out", str(tmp_path / "out"), "--mirror", mirror[0]]
    (tmp_path / "temporary").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(Handler, "copyfile", send_half)
        environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
        job = subprocess.Popen([sys.executable, "-c", command, *words], env=environment, stderr=subprocess.DEVNULL)
        try:
            assert half_sent.wait(90)
            while not any(part.stat().st_size for part in (tmp_path / "out").rglob("*_0050004_*.part")):
                assert job.poll() is None
                time.sleep(0.01)
            job.send_signal(number)
            job.wait(60)
        finally:
            job.kill()
            job.wait()
            over.set()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not list((tmp_path / "out").rglob("*_0050004_rois_cc200.1D"))
    asked.clear()
    folder = fetch()
    assert set(asked) == {"Pitt_0050004_rois_cc200.1D"}
    (file,) = folder.rglob("*_0050004_rois_cc200.1D")
    assert file.read_bytes() == next((tmp_path / "server").rglob(file.name)).read_bytes()
    series = {f"cpac/filt_global/Pitt_005000{i}_rois_cc200.1D" for i in (3, 4)}
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert kept == {*series, "Phenotypic_V1_0b_preprocessed1.csv", "fetched.json"}


def test_without_a_network_it_ends_with_a_sentence(tmp_path):
    refused("its server was not reached", fetch_abide, tmp_path, FetchOptions(mirror="http://127.0.0.1:9"))


def test_cohort_is_of_those_asked_for_whatever_lies_in_the_folder(tmp_path, fetch, mirror):
    fetch()
    fetched, read = [], []
    cohort = abide_cohort(
        tmp_path / "out",
        FetchOptions(mirror=mirror[0], n_subjects=1),
        name="few",
        progress=lambda *told: fetched.append(told),
        reading=lambda *told: read.append(told),
    )
    assert (cohort.ids, cohort.name, cohort.atlas.name) == (("Pitt_0050003",), "few", "cc200")
    assert (cohort.subjects[0].group, cohort.subjects[0].phenotypes["site"]) == ("ASD", "PITT")
    assert (fetched, read) == ([(1, 1)], [(1, 1)])
    assert (cohort.unmatched_subjects, cohort.unmatched_rows) == ((), ())


LOGIN = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Welcome to the guest network</body></html>\n"
SERIES = "Outputs/cpac/filt_global/rois_cc200/Pitt_0050003_rois_cc200.1D"
TABLE = "Phenotypic_V1_0b_preprocessed1.csv"


def _files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("file", "served", "what"),
    [
        (SERIES, LOGIN, "is a web page"),
        (SERIES, "\ufeff  <html>", "is a web page"),
        (SERIES, "", "is empty"),
        (SERIES, "#1\t#2\n1.0\t2.0\n3.0\t4.0\n", "has 2 columns, not 200"),
        (SERIES, "\t".join(["1.5"] * 200) + "\n1.5\t1.5", "is no table of numbers, or is cut short"),
        (TABLE, LOGIN, "is a web page"),
    ],
    ids=["login page", "page behind a mark", "empty", "another table", "cut", "login page for the phenotypes"],
)
@pytest.mark.filterwarnings("ignore:loadtxt")
def test_what_is_no_table_is_refused_each_time_and_the_real_one_fetched_later(tmp_path, fetch, file, served, what):
    path = tmp_path / "server" / file
    real = path.read_bytes()
    path.write_text(served, encoding="utf-8")
    for _ in range(2):
        refused(f"'{path.name}' {what}, and was not kept.*login page", fetch)
        assert path.name not in _files(tmp_path / "out")
    path.write_bytes(real)
    assert read_cohort(fetch()).ids == ("Pitt_0050003", "Pitt_0050004")


def test_a_page_that_an_earlier_run_kept_is_fetched_again(tmp_path, fetch, asked):
    kept = tmp_path / "out" / "ABIDE_pcp" / "cpac" / "filt_global" / "Pitt_0050003_rois_cc200.1D"
    kept.parent.mkdir(parents=True)
    kept.write_text(LOGIN)
    fetch()
    assert "Pitt_0050003_rois_cc200.1D" in asked
    assert kept.read_bytes() == (tmp_path / "server" / SERIES).read_bytes()


def test_a_series_that_changed_since_is_fetched_again_and_kept_beside(tmp_path, fetch, asked):
    folder = fetch()
    file = next(folder.rglob("Pitt_0050003*.1D"))
    came = file.read_bytes()
    changed = came.replace(b"1", b"2", 1) if came.count(b"1") else came + b"\n"
    file.write_bytes(changed)
    asked.clear()
    fetch()
    assert asked == ["Pitt_0050003_rois_cc200.1D"]
    assert file.read_bytes() == came
    assert file.with_name(file.name + ".changed").read_bytes() == changed
    assert read_cohort(folder).ids == ("Pitt_0050003", "Pitt_0050004")


def test_files_that_nilearn_fetched_before_are_kept_and_a_damaged_record_is_made_again(tmp_path, fetch, asked):
    folder = fetch()
    (folder / "fetched.json").write_text('{"cut')
    asked.clear()
    fetch()
    assert asked == []
    recorded = json.loads((folder / "fetched.json").read_text())
    series = next(folder.rglob("Pitt_0050004*.1D"))
    assert recorded["cpac/filt_global/Pitt_0050004_rois_cc200.1D"] == hashlib.sha256(series.read_bytes()).hexdigest()
    assert len(recorded) == 3


@pytest.mark.parametrize("declared", [True, False], ids=["told", "untold"])
def test_a_server_that_sends_without_end_is_left(tmp_path, fetch, monkeypatch, declared):
    sent = []

    def send_on(handler):
        handler.send_response(200)
        if declared:
            handler.send_header("Content-Length", str(2**40))
        handler.end_headers()
        with suppress(OSError):
            while len(sent) < 2**14:
                handler.wfile.write(b"1.5\t" * 2**14)
                sent.append(2**16)

    monkeypatch.setattr(Handler, "do_GET", send_on)
    monkeypatch.setenv("BIOBGT_MAX_FETCH_BYTES", str(2**20))
    refused(r"at most 1 MB are read.*BIOBGT_MAX_FETCH_BYTES", fetch)
    assert len(sent) < 2**14
    assert _files(tmp_path / "out") == []


def test_a_server_that_sends_a_byte_now_and_then_is_left(tmp_path, fetch, monkeypatch):
    over = threading.Event()

    def send_slowly(handler):
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            while not over.wait(0.2):
                handler.wfile.write(b"1")

    monkeypatch.setattr(Handler, "do_GET", send_slowly)
    monkeypatch.setenv("BIOBGT_MAX_FETCH_SECONDS", "1")
    try:
        refused(r"was not there after 1 seconds.*BIOBGT_MAX_FETCH_SECONDS", fetch)
    finally:
        over.set()
    assert _files(tmp_path / "out") == []


def test_a_table_cannot_name_files_elsewhere(tmp_path, fetch, asked):
    table = tmp_path / "server" / TABLE
    table.write_text(table.read_text().replace("Pitt_0050004", "../../../Pitt_0050004"))
    folder = fetch()
    assert asked == [TABLE, "Pitt_0050003_rois_cc200.1D"]
    assert read_cohort(folder).ids == ("Pitt_0050003",)


def test_a_file_that_ends_early_is_not_kept(tmp_path, fetch, monkeypatch):
    def send_less(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b",SUB_ID,FILE_ID\n")

    monkeypatch.setattr(Handler, "do_GET", send_less)
    refused("ended early", fetch)
    assert _files(tmp_path / "out") == []
