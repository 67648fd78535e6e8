"""What the app costs: a page drawn again after a slider was moved, and the server from its start to the first figure.

Redraws are runs of the page's script in this process, as Streamlit's own tests run it: what the server does, without
the browser's drawing, which is the same for any page with these figures. They are told in CPU seconds, for other work
on the machine slows both sides, but not always at once. The start is that of a real server process, asked over its web
socket as a browser asks, until the first figure of Home has come; the browser's own start is not in it.
"""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, perf_counter, process_time, sleep
from typing import Any
from unittest.mock import patch

import plotly.graph_objects as go
import streamlit as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks.timing import Ratio, print_ratios
from biobgt import ConnectomeSettings, brain_graph
from biobgt.data.connectivity import subject_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.hubs.agreement import REFERENCES, hub_correlation, subject_sweep
from biobgt.hubs.region import explain_region
from biobgt.hubs.table import measure_hubs
from biobgt.modules import measure_modules, module_agreement
from biobgt.modules.measures import ModuleOptions

APP = Path(__file__).resolve().parents[1] / "app"
TIMEOUT_S = 300
STARTS = 4
# Values that no earlier turn has seen, so that no table and no module is read from what was kept.
NEW_GAMMAS = (0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)
NEW_RESOLUTIONS = (0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5)
IMPORTS = "import streamlit, plotly, nilearn, pandas"
DEMO = """from time import perf_counter
from biobgt.data.simulate import demo_cohort
start = perf_counter()
demo_cohort("asd")
print(perf_counter() - start)"""

Figures = list[tuple[Any, dict[str, Any]]]


def run() -> None:
    """Print the ratios."""
    sys.path.insert(0, str(APP))  # as `streamlit run` does
    with chdir(APP):  # where the app's own settings are
        print_ratios("The app, demo cohort of 200 regions", [*_redraws(), _start()])


def _redraws() -> list[Ratio]:
    session = AppTest.from_file(str(APP / "Home.py"), default_timeout=TIMEOUT_S).run()
    hubs = _redraw(session, "hubs", "gamma", NEW_GAMMAS, _hub_numbers())
    modules = _redraw(session, "modules", "resolution", NEW_RESOLUTIONS, _module_numbers())
    against = "its numbers + a bare page with the same figures"
    return [
        Ratio("Hubs drawn again at another γ", against, hubs, "≤ 2"),
        Ratio("Modules drawn again at another resolution", against, modules, "≤ 2"),
    ]


def _redraw(
    session: AppTest, page: str, slider: str, values: tuple[float, ...], numbers: Callable[[float], object]
) -> float:
    """Return the time of a redraw over that of its numbers and of a bare page, in turns."""
    session.switch_page(f"views/{page}.py").run()
    with _recorded() as figures:
        session.run()
    bare = AppTest.from_function(_bare_page, kwargs={"figures": figures}, default_timeout=TIMEOUT_S).run()
    redrawn, computed, shown = [], [], []
    for value in values:
        session.select_slider(key=slider).set_value(value)
        redrawn.append(_cpu(session.run))
        computed.append(_cpu(partial(numbers, value)))
        shown.append(_cpu(bare.run))
    return min(redrawn) / (min(computed) + min(shown))


def _cpu(job: Callable[[], object]) -> float:
    start = process_time()
    job()
    return process_time() - start


@contextmanager
def _recorded() -> Iterator[Figures]:
    """Record the figures that a page shows, with how they are shown."""
    figures: Figures = []
    shown = st.plotly_chart

    def record(figure: Any, **how: Any) -> Any:
        figures.append((go.Figure(figure.to_dict()), {name: how[name] for name in ("key", "config", "alt")}))
        return shown(figure, **how)

    with patch.object(st, "plotly_chart", record):
        yield figures


def _bare_page(figures: "Figures") -> None:
    """A page that shows ready figures and nothing else; Streamlit runs its source, so that it imports for itself."""
    import streamlit

    for figure, how in figures:
        streamlit.plotly_chart(figure, **how)


def _hub_numbers() -> Callable[[float], object]:
    """What the page of hubs must work out at a new γ; spectra are those of any γ and known."""
    from biobgt.hubs.measures import HubOptions

    cohort = demo_cohort("asd")
    subject = cohort.subjects[0]
    graph = brain_graph(subject, cohort.atlas, ConnectomeSettings())
    hubs = measure_hubs(graph, subject_connectivity(subject))

    def numbers(gamma: float) -> None:
        options = HubOptions(gamma)
        table = hubs.table(options)
        for measure in REFERENCES:
            hub_correlation(hubs, gamma, measure)
        subject_sweep(hubs)
        strongest = int(table["node_entanglement_rank"].to_numpy().argmin())
        again = brain_graph(subject, cohort.atlas, ConnectomeSettings())
        explain_region(again, hubs, strongest, options=options)

    return numbers


def _module_numbers() -> Callable[[float], object]:
    """What the page of modules must work out at a new resolution; the sweep over resolutions is known."""
    cohort = demo_cohort("asd")
    subject = cohort.subjects[0]

    def numbers(resolution: float) -> None:
        graph = brain_graph(subject, cohort.atlas, ConnectomeSettings())
        found = measure_modules(graph, subject_connectivity(subject), ModuleOptions(resolution=resolution))
        for labelling in cohort.atlas.labels:
            module_agreement(found.partition, cohort.atlas, labelling)

    return numbers


def _start() -> Ratio:
    """The start of the server to its first figure, against the imports it cannot do without and the demo's subjects."""
    started, imported, drawn = [], [], []
    for _ in range(STARTS):
        started.append(_first_figure())
        before = perf_counter()
        subprocess.run([sys.executable, "-c", IMPORTS], check=True)
        imported.append(perf_counter() - before)
        told = subprocess.run([sys.executable, "-c", DEMO], check=True, capture_output=True, text=True)
        drawn.append(float(told.stdout))
    return Ratio(
        "start of the server to Home's first figure",
        f"{IMPORTS} + the demo cohort",
        min(started) / (min(imported) + min(drawn)),
        "≤ 1.5",
    )


def _first_figure() -> float:
    """Seconds from the start of a server to the first figure that it sends."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "streamlit", "run", str(APP / "Home.py")]
    options = ["--server.port", str(port), "--server.headless", "true"]
    start = perf_counter()
    server = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with _visit(port, server) as visit:
            ask = BackMsg()
            ask.rerun_script.query_string = ""
            visit.send(ask.SerializeToString())
            while not _shows_figure(visit.recv(timeout=TIMEOUT_S)):
                pass
            return perf_counter() - start
    finally:
        server.terminate()
        server.wait()


def _visit(port: int, server: "subprocess.Popen[bytes]") -> ClientConnection:
    """Connect as a browser does, as soon as the server listens."""
    deadline = monotonic() + TIMEOUT_S
    origin = Origin(f"http://localhost:{port}")
    while monotonic() < deadline and server.poll() is None:
        try:
            return connect(f"ws://localhost:{port}/_stcore/stream", origin=origin, max_size=None)
        except OSError:
            sleep(0.02)
    sys.exit("The server did not start.")


def _shows_figure(message: str | bytes) -> bool:
    forward = ForwardMsg()
    forward.ParseFromString(message)
    return bool(forward.delta.new_element.WhichOneof("type") == "plotly_chart")
