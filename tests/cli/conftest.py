"""The command line run in this process: as a user's, without two seconds of imports each time."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ended_jobs import Ended, Run

from biobgt.base.folders import MANIFEST
from biobgt.cli import main
from biobgt.cli.main import _ERR, _OUT
from biobgt.data.cohort import Cohort
from biobgt.readers import read_cohort
from biobgt.readers.tables import SIMULATED_MARK


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a job with arguments, as from a wide terminal."""
    for console in (_OUT, _ERR):  # made when the module was imported, as wide as the terminal was then
        monkeypatch.setattr(console, "_width", 200)

    def call(*arguments: object) -> Ended:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["biobgt", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        return Ended(code if isinstance(code, int) else int(code is not None), *capsys.readouterr())

    return call


@pytest.fixture
def done(run: Run) -> Run:
    """Run a job that comes to its end."""

    def call(*arguments: object) -> Ended:
        ended = run(*arguments)
        assert ended.code == 0, ended.err
        return ended

    return call


@pytest.fixture
def thrice(done: Run, tmp_path: Path) -> Callable[..., list[int]]:
    """Run a job without a folder of kept results, with a new one, and again: it writes and prints the same.

    The number of things that each run added to a list comes back.
    """

    def call(seen: list[object], *asked: object, out: str = "") -> list[int]:
        results, counts = [], []
        for name in ("without", "first", "again"):
            seen.clear()
            kept = () if name == "without" else ("--results", tmp_path / "kept")
            ended = done(*asked, *kept, "--out", tmp_path / name / out)
            files = [path for path in (tmp_path / name).rglob("*") if path.is_file() and path.name != MANIFEST]
            written = {path.relative_to(tmp_path / name): path.read_bytes() for path in files}
            results.append((written, ended.out.replace(str(tmp_path / name), "")))
            counts.append(len(seen))
        assert results[0] == results[1] == results[2] != ({}, "")
        return counts

    return call


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three simulated subjects a group, NC, MCI and AD, on AAL-90."""
    from biobgt.cli.subjects import demo

    folder = tmp_path_factory.mktemp("simulated") / "study"
    demo(out=folder, name="ad", n_per_group=3, seed=1)
    return folder


@pytest.fixture(scope="session")
def simulated_cohort(simulated: Path) -> Cohort:
    return read_cohort(simulated)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A study of three NC and three AD on twelve regions, marked as simulated, and its atlas: quick to measure."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("small")
    names = [f"region_{letter}" for letter in "abcdefghijkl"]
    atlas = pd.DataFrame(rng.uniform(-50, 50, (12, 3)), columns=["x", "y", "z"])
    atlas.assign(label=names, network=["front"] * 5 + ["back"] * 7).to_csv(folder / "twelve.csv", index=False)
    (folder / "study").mkdir()
    rows = ["participant_id\tgroup"]
    for i in range(6):
        own = rng.standard_normal((150, 12)) + 1.2 * rng.standard_normal((150, 3))[:, [0, 1, 2] * 4]
        text = pd.DataFrame(own, columns=names).to_csv(sep="\t", index=False)
        (folder / "study" / f"s{i}.tsv").write_text(f"{SIMULATED_MARK} for a test\n{text}")
        rows.append(f"s{i}\t{'NC' if i < 3 else 'AD'}")
    (folder / "study" / "participants.tsv").write_text("\n".join(rows))
    return folder / "study", folder / "twelve.csv"


@pytest.fixture(scope="session")
def small_cohort(small: tuple[Path, Path]) -> Cohort:
    return read_cohort(small[0], atlas=small[1])
