"""What a page held is offered after a reload, a crash or a restart, and is freed and forgotten when it should be."""

import stat
from pathlib import Path
from time import monotonic, sleep

import psutil

from benchmarks.sessions import visit_all
from benchmarks.visitors import Server, Visitor, running_server, visit

FILES = "Region time series"
OFFER = "Subjects of an earlier session"
MB = 2**20


def bring_subject(visitor: Visitor, content: bytes, name: str = "Lab_0051456_rois_cc200.1D") -> None:
    visitor.look("subjects")
    assert visitor.bring(FILES, name, content) == 204
    assert "Read 1 subject" in visitor.look().text()


def kept(folder: Path) -> list[Path]:
    """The files of copies; what was measured lies in folders beside them."""
    return sorted(path for path in (folder / "data" / "biobgt" / "autosave").glob("*") if path.is_file())


def resident(server: Server) -> float:
    return float(psutil.Process(server.process.pid).memory_info().rss / MB)


def test_a_reload_and_a_crash_lose_nothing(tmp_path: Path, region_series: bytes) -> None:
    with running_server(tmp_path) as server:
        with visit(server) as visitor:
            bring_subject(visitor, region_series)
        copy = [path for path in kept(tmp_path) if path.suffix == ".biobgt"]
        assert [stat.S_IMODE(path.stat().st_mode) for path in copy] == [0o600]
        with visit(server) as again:  # a reload is a new session
            assert OFFER in again.look("hubs").text()
            assert "Lab_0051456" not in again.find("selectbox", "Subject").options
            again.click("Open")
            assert "Lab_0051456" in again.find("selectbox", "Subject").options
        server.process.kill()
        server.process.wait()
    with running_server(tmp_path) as server, visit(server) as later:
        assert OFFER in later.look("subjects").text()
        later.click("Open")
        assert "Read 1 subject" in later.text()
        assert len(kept(tmp_path)) == 2  # the opened copy and its settings, not one more of each


def test_a_reload_loses_neither_the_export_list_nor_what_was_measured(tmp_path: Path, region_series: bytes) -> None:
    asked, told = "Predict Lab", "Probability of ASD"
    with running_server(tmp_path) as server:
        with visit(server) as visitor:
            bring_subject(visitor, region_series)
            visitor.click("Add to export")
            visitor.look("predict")
            assert told not in visitor.text()
            assert told in visitor.click(asked).text()
        results = tmp_path / "data" / "biobgt" / "autosave"
        (folder,) = results.glob("*.results")
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with visit(server) as again:
            offered = again.look("predict").text()
            assert "Your files: Lab_0051456, Craddock CC200 (1 subject)" in offered
            again.click("Open")
            assert "Lab_0051456" in again.find("selectbox", "Subject").options
            assert told in again.text()
            assert asked not in again.text()
            assert "1 figure" in again.look("export").text()
            assert "no longer loaded" not in again.text()
            again.look("subjects")
            again.click("Forget these subjects")
        assert list(results.iterdir()) == []
        with visit(server) as other:
            assert OFFER not in other.look().text()


def test_an_offer_can_be_forgotten(tmp_path: Path, region_series: bytes) -> None:
    with running_server(tmp_path) as server:
        with visit(server) as visitor:
            bring_subject(visitor, region_series)
        with visit(server) as other:
            other.look()
            assert OFFER not in other.click("Forget").text()
        assert kept(tmp_path) == []


def test_the_page_says_what_is_kept(tmp_path: Path, region_series: bytes) -> None:
    (tmp_path / "data" / "biobgt" / "autosave").mkdir(parents=True)
    (tmp_path / "data" / "biobgt" / "autosave" / "off").touch()
    with running_server(tmp_path) as server, visit(server) as visitor:
        bring_subject(visitor, region_series)
        assert "as a copy" not in visitor.text()
        assert "freed within a minute" in visitor.text()
        assert [path.name for path in kept(tmp_path)] == ["off"]


def test_served_to_others_there_are_no_copies(tmp_path: Path, region_series: bytes) -> None:
    environment = {"BIOBGT_PASSWORD": "correct horse battery"}
    with running_server(tmp_path, "--server.address", "0.0.0.0", environment=environment) as server:
        with visit(server) as visitor:
            visitor.look("subjects")
            visitor.type("Password", "correct horse battery")
            visitor.click("Log in")
            bring_subject(visitor, region_series)
            assert "as a copy" not in visitor.text()
        assert kept(tmp_path) == []


def test_a_closed_page_is_freed_within_a_minute(tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        with visit(server) as first:
            first.look("subjects")
            before = resident(server)
            assert first.bring(FILES, "noise.bin", bytes(150 * MB)) == 204
            first.look()
            assert resident(server) > before + 140
        deadline = monotonic() + 60
        while resident(server) > before + 40 and monotonic() < deadline:
            sleep(1)
        assert resident(server) < before + 40


def test_files_beyond_the_cap_are_refused_before_they_are_sent(tmp_path: Path) -> None:
    with running_server(tmp_path, "--server.maxUploadSize", "2") as server, visit(server) as visitor:
        assert "At most 2 MB per file and 8 MB in all" in visitor.look("subjects").text()
        assert visitor.find("file_uploader", FILES).max_upload_size_mb == 2  # the browser refuses it by itself
        files = {f"noise{i}.bin": bytes(MB * 19 // 10) for i in range(4)}
        assert visitor.bring_all(FILES, files) == 204
        assert visitor.bring(FILES, "one.bin", bytes(MB)) == 413


def test_twenty_sessions_at_once_see_only_their_own(tmp_path: Path) -> None:
    names = [f"Visitor{number:02d}" for number in range(20)]
    with running_server(tmp_path) as server:
        visitors = visit_all(server, names, n_subjects=1, n_timepoints=60)
        for own, visitor in zip(names, visitors, strict=True):
            shown = visitor.text()
            assert "Read 1 subject" in shown
            assert {name for name in names if name in shown} == {own}
            visitor.leave()


def test_long_work_of_a_page_that_was_closed_stops(tmp_path: Path) -> None:
    """Predicting goes through 40 subjects; those that were done are kept, and are shown to whoever comes next."""
    with running_server(tmp_path) as server:
        with visit(server) as visitor:
            visitor.look("predict")
            visitor.click("Predict 40 subjects", wait=False)
            while "Subject 2 of 40" not in visitor.receive().delta.new_element.progress.text:
                pass
        wait_until_idle(server)
        with visit(server) as later:
            later.look("predict")
            assert "of 40 left" in later.text()  # not all 40


def wait_until_idle(server: Server) -> None:
    """Wait until the server computes nothing."""
    process = psutil.Process(server.process.pid)
    process.cpu_percent()
    sleep(1)
    while process.cpu_percent() > 10:
        sleep(1)
