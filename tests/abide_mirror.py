"""A server of our own with ABIDE's layout, so that fetching is tested without the internet."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

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


@contextmanager
def abide_server(root: Path, rng: np.random.Generator) -> Iterator[tuple[str, list[str]]]:
    """Serve three subjects from a folder; give the server's address and the list of files it was asked for."""
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
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
