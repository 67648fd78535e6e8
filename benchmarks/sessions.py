"""Twenty sessions of one server at once: what they cost each other, and what they leave behind.

A real server, and visitors over loopback as browsers are, without drawing. For memory each brings subjects of its own.
Redraws are told in seconds as a visitor waits for them, because other sessions' work is what is measured: alone, with
all the others, and beside a session that predicts; the medians are compared. Memory is the server's resident set; the
first round of visitors pays for modules and demo cohorts and is not counted.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import numpy as np
import psutil

from benchmarks.timing import Ratio, print_ratios
from benchmarks.visitors import Server, Visitor, running_server, visit
from biobgt.data.simulate import demo_cohort

N_SESSIONS = 20
FILES = "Region time series"
N_SUBJECTS, N_TIMEPOINTS, N_REGIONS = 3, 1200, 200
REDRAWS = 5
FREED_AFTER_S = 60.0
PAUSE_S = 5.0  # that somebody looks at a page before moving a slider
PREDICTING, BESIDE = "predict", "hubs"


def run() -> None:
    """Print the ratios."""
    with TemporaryDirectory() as folder, running_server(Path(folder)) as server:
        together = [ratio for page in (BESIDE, "explore") for ratio in _together(server, page)]
        ratios = [_memory(server), *together, _redraw(server), _stop(server)]
    print_ratios(f"{N_SESSIONS} sessions of one server", ratios)


def subject_files(name: str, seed: int, *, n_subjects: int, n_timepoints: int) -> dict[str, bytes]:
    """Region series of subjects ``name_0000000``, … as ABIDE releases them, so that nothing is asked about them."""
    rng = np.random.default_rng(seed)
    header = "\t".join(f"#{region}" for region in range(1, N_REGIONS + 1))
    files = {}
    for number in range(n_subjects):
        values = rng.standard_normal((n_timepoints, N_REGIONS))
        lines = ["\t".join(f"{value:.4f}" for value in row) for row in values]
        files[f"{name}_{number:07d}_rois_cc200.1D"] = "\n".join([header, *lines]).encode()
    return files


def visit_all(
    server: Server, names: Sequence[str], *, n_subjects: int = N_SUBJECTS, n_timepoints: int = N_TIMEPOINTS
) -> list[Visitor]:
    """Let as many visitors as there are names come at once, each with subjects so named, and look at three pages."""

    def one(number: int) -> Visitor:
        visitor = visit(server)
        visitor.look("subjects")
        files = subject_files(names[number], number, n_subjects=n_subjects, n_timepoints=n_timepoints)
        visitor.bring_all(FILES, files)
        for page in ("subjects", "", "subjects"):
            visitor.look(page)
        return visitor

    with ThreadPoolExecutor(len(names)) as crowd:
        return list(crowd.map(one, range(len(names))))


def _memory(server: Server) -> Ratio:
    """What is left of the sessions' memory a minute after the last page was closed, over what they took."""
    _round(server)
    before = _resident(server)
    taken = _round(server) - before
    left = _resident(server) - before
    return Ratio(
        f"memory a minute after {N_SESSIONS} pages were closed",
        f"what they took ({taken / N_SESSIONS / 2**20:.0f} MB each)",
        max(0.0, left) / taken,
        "≤ 0.1",
    )


def _round(server: Server) -> float:
    """All come and go; returns the bytes held while all were there."""
    visitors = visit_all(server, [f"Visitor{number:02d}" for number in range(N_SESSIONS)])
    held = _resident(server)
    for visitor in visitors:
        visitor.leave()
    sleep(FREED_AFTER_S)
    return held


def _resident(server: Server) -> float:
    return float(psutil.Process(server.process.pid).memory_info().rss)


def _together(server: Server, page: str) -> list[Ratio]:
    """A page drawn again with twenty sessions there, each of another subject, over the same with one of them."""
    subjects = demo_cohort("asd").ids[:N_SESSIONS]
    visitors = [visit(server).look(page, f"subject={subject}") for subject in subjects]
    before = _computed(server)
    alone = [_drawn(visitor) for visitor in visitors]
    computing = (_computed(server) - before) / N_SESSIONS
    with ThreadPoolExecutor(N_SESSIONS) as crowd:
        at_once = [seconds for _ in range(REDRAWS) for seconds in crowd.map(_drawn, visitors)]
        in_turn = [seconds for each in crowd.map(_drawn_now_and_then, visitors) for seconds in each]
    for visitor in visitors:
        visitor.leave()
    what = f"{page} drawn again by {N_SESSIONS} sessions"
    against = f"by one ({median(alone):.2f} s, {computing:.2f} s of computing)"
    return [
        Ratio(
            f"{what}, each every {PAUSE_S:g} s ({median(in_turn):.2f} s)",
            against,
            median(in_turn) / median(alone),
            "≤ 3",
        ),
        Ratio(f"{what} in the same instant ({median(at_once):.2f} s)", against, median(at_once) / median(alone)),
    ]


def _drawn_now_and_then(visitor: Visitor) -> list[float]:
    """Seconds of redraws by somebody who looks at the page in between, and began at any time."""
    seconds = []
    for pause in np.random.default_rng().uniform(0, 2 * PAUSE_S, REDRAWS):
        sleep(pause)
        seconds.append(_drawn(visitor))
    return seconds


def _redraw(server: Server) -> Ratio:
    """A page drawn again while another session predicts 40 subjects, over the same alone."""
    with visit(server) as busy, visit(server) as other, ThreadPoolExecutor(1) as waiting:
        other.look(BESIDE)
        alone = [_drawn(other) for _ in range(REDRAWS)]
        busy.look(PREDICTING)
        busy.click("Predict 40 subjects", wait=False)
        _wait_for_progress(busy)
        predicted = waiting.submit(busy.wait)
        beside = []
        while not predicted.done():
            beside.append(_drawn(other))
    return Ratio(
        f"{BESIDE} drawn again, {len(beside)} times, while another session predicts 40 subjects",
        "the same alone",
        median(beside) / median(alone),
        "≤ 3",
    )


def _stop(server: Server) -> Ratio:
    """The processor time of a server whose one visitor left in the middle of long work, over that of one core."""
    with visit(server) as visitor:
        visitor.look("hubs", "cohort=ad")
        visitor.look(PREDICTING, "cohort=ad")
        visitor.click("Predict", wait=False)
        _wait_for_progress(visitor)
    sleep(5)
    before, start = _computed(server), perf_counter()
    sleep(5)
    used, seconds = _computed(server) - before, perf_counter() - start
    return Ratio("work 5 s after its page was closed", "one core", used / seconds, "≤ 0.1")


def _computed(server: Server) -> float:
    """Processor seconds of the server so far."""
    times = psutil.Process(server.process.pid).cpu_times()
    return float(times.user + times.system)


def _drawn(visitor: Visitor) -> float:
    start = perf_counter()
    visitor.look()
    return perf_counter() - start


def _wait_for_progress(visitor: Visitor) -> None:
    """Wait until the second step of long work has begun."""
    while True:
        message = visitor.receive()
        if "Subject 2 of" in message.delta.new_element.progress.text:
            return
