"""Fetching from a server of our own that looks like the real one."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from biobgt import InputError, read_cohort
from biobgt.fetch import FetchOptions, fetch_abide

RATERS = "qc_rater_1,qc_anat_rater_2,qc_func_rater_2,qc_anat_rater_3,qc_func_rater_3"
COLUMNS = f"SUB_ID,SITE_ID,FILE_ID,DX_GROUP,AGE_AT_SCAN,SEX,{RATERS}"
ROWS = [
    ",50002,PITT,no_filename,1,16.8,1,OK,OK,OK,OK,OK",
    ",50003,PITT,Pitt_0050003,1,24.5,1,OK,OK,OK,OK,OK",
    ",50004,PITT,Pitt_0050004,2,19.1,2,OK,maybe,OK,OK,OK",
    ",50005,PITT,Pitt_0050005,2,13.7,2,fail,OK,OK,OK,OK",
]


class Handler(SimpleHTTPRequestHandler):
    asked: list[str]

    def do_GET(self):
        self.asked.append(self.path.rsplit("/", 1)[-1])
        super().do_GET()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def mirror(tmp_path, rng):
    """A local server with ABIDE's layout; yields its address and the list of files it was asked for."""
    root = tmp_path / "server"
    derivatives = root / "Outputs" / "cpac" / "filt_global" / "rois_cc200"
    derivatives.mkdir(parents=True)
    (root / "Phenotypic_V1_0b_preprocessed1.csv").write_text("\n".join([f",{COLUMNS}", *ROWS]) + "\n")
    for name in ("Pitt_0050003", "Pitt_0050004", "Pitt_0050005"):
        rows = ["\t".join(f"{value:.6f}" for value in row) for row in rng.standard_normal((80, 200))]
        header = "\t".join(f"#{i}" for i in range(1, 201))
        (derivatives / f"{name}_rois_cc200.1D").write_text("\n".join([header, *rows]) + "\n")
    asked: list[str] = []
    handler = partial(type("Recording", (Handler,), {"asked": asked}), directory=str(root))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_fetch_gives_a_folder_that_reads_as_a_cohort(tmp_path, mirror):
    address, asked = mirror
    seen = []
    folder = fetch_abide(
        tmp_path / "out", FetchOptions(mirror=address), progress=lambda done, total: seen.append((done, total))
    )
    cohort = read_cohort(folder)
    assert cohort.ids == ("Pitt_0050003", "Pitt_0050004")  # the third failed ABIDE's quality check
    assert dict(cohort.group_sizes) == {"NC": 1, "ASD": 1}
    assert cohort["Pitt_0050004"].phenotypes["sex"] == "F"
    assert np.isfinite(cohort["Pitt_0050003"].series).all()
    assert seen == [(1, 2), (2, 2)]
    assert "Pitt_0050005_rois_cc200.1D" not in asked


def test_a_second_run_fetches_only_what_is_missing(tmp_path, mirror):
    address, asked = mirror
    fetch_abide(tmp_path / "out", FetchOptions(mirror=address, n_subjects=1))
    asked.clear()
    fetch_abide(tmp_path / "out", FetchOptions(mirror=address))
    assert asked == ["Pitt_0050004_rois_cc200.1D"]


def test_without_a_network_it_ends_with_a_sentence(tmp_path):
    with pytest.raises(InputError, match="ABIDE could not be fetched: its server was not reached"):
        fetch_abide(tmp_path, FetchOptions(mirror="http://127.0.0.1:9"))
