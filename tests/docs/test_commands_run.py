"""The commands of README, of the tutorial and of the first page are run, and what they write is what the page says.

README's commands run on four simulated subjects. Those of :data:`NOT_RUN` need a cohort, a network or hours: they are
read by the real command line, in ``test_pages.py``, and not run.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from described_files import ROOT, DescribedFile, Typed, described_files, undescribed
from study_cohorts import OPTIONS, SETTINGS, small_cohort

from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.export.report import write_report
from biobgt.hubs.measures import HubAnalysisOptions
from biobgt.readers.project import save_project
from biobgt.results.tables import analyse_hubs
from biobgt.specifications.folder import survive
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.plan import plan_survival
from biobgt.study import DesignOptions
from biobgt.study.group import group_level
from biobgt.study.participants import measure_participants
from docs.tools.commands import code_blocks, named_commands, shell_lines, whole_commands

NOT_RUN = ("app", "bench", "study", "train", "evaluate", "benchmark", "card", "fetch")
PROJECT = "study.biobgt"
MODEL = "abide-cc200"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def to_run(page: str) -> list[str]:
    """The commands of a page that are run, those within its sentences, too, where they name a file."""
    text = text_of(page)
    commands = [*whole_commands(text), *(line for line in named_commands(text) if PROJECT in line)]
    return [line for line in commands if line.split()[1] not in NOT_RUN]


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.fixture(scope="session")
def readme(typed: Typed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which README's commands were run, on files that stand for a reader's own."""
    folder = tmp_path_factory.mktemp("readme")
    with inside(folder):
        typed("biobgt demo asd --n-per-group 2 --out study")
        shutil.copy("study/participants.tsv", "participants.tsv")
        with Path(PROJECT).open("wb") as stream:  # as the app saves it
            save_project(demo_cohort("ad", n_per_group=1), ConnectomeSettings(), {}, stream)
        for line in to_run("README.md"):
            line = line.replace("TABLE", "participants.tsv").replace("PATH", "study")
            typed(line.replace("--out DIR", "--out of-project" if PROJECT in line else "--out results"))
    return folder


@pytest.fixture(scope="session")
def tutorial(typed: Typed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the tutorial was followed to its end."""
    folder = tmp_path_factory.mktemp("tutorial")
    with inside(folder):
        for line in shell_lines(text_of("docs/tutorial.md")):
            typed(line)
        for what in ("fc-blocks", "modules"):
            typed(f"biobgt compare study --groups NC AD --of {what} --permutations 20 --out results")
    return folder


def test_tutorial_leads_to_a_figure_and_its_numbers(tutorial: Path) -> None:
    for name in ("hub_curves.svg", "hub_curves.pdf", "by-rank.svg", "module_heatmap.svg"):
        assert (tutorial / "figures" / "figures" / name).stat().st_size > 1000
    assert len(pd.read_csv(tutorial / "figures" / "numbers" / "hub_curves.csv")) == 90
    for suffix in ("md", "docx", "tex", "bib"):
        assert (tutorial / "figures" / "methods" / f"hub_curves.{suffix}").stat().st_size > 1000
    said = text_of("docs/tutorial.md")
    for name in re.findall(r"`((?:results|figures|study)/[\w./-]+)`", said):
        assert (tutorial / name).exists(), f"The tutorial speaks of {name}."


def test_first_page_runs_from_commands_to_python(typed: Typed, tmp_path: Path) -> None:
    page = text_of("docs/getting-started.md")
    with inside(tmp_path):
        for line in to_run("docs/getting-started.md"):
            typed(line)
        found: dict[str, object] = {}
        for block in code_blocks(page):
            if block.language == "python":
                exec(block.body, found)
    assert len(found["entanglement"]) == 90
    assert found["strongest"] in found["cohort"].atlas.regions


def test_python_of_readme_runs(readme: Path) -> None:
    (block,) = [block for block in code_blocks(text_of("README.md")) if block.language == "python"]
    found: dict[str, object] = {}
    with inside(readme):
        exec(block.body.replace("sub-01", "sim-NC-001"), found)
    assert found["graph"].n_regions == 200


def test_python_of_the_reference_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for block in code_blocks(text_of("docs/reference/index.md")) if block.language == "python"]
    exec(block.body, {})
    region, n_modules = capsys.readouterr().out.split()
    assert "_" in region
    assert int(n_modules) > 1


PAGE = described_files()
COMMON = PAGE["In every folder of results"]
TABLES = {
    "biobgt demo": "study",
    "biobgt info": "results",
    "biobgt connectome": "results",
    "biobgt hubs": "results",
    "biobgt modules": "results",
    "biobgt compare": "results",
    "biobgt centiles": "results",
    "biobgt attention": "results",
}


def described_as(name: str, files: list[DescribedFile]) -> DescribedFile | None:
    """What the page says of a file; where two names fit, that with more of its letters."""
    return max(
        (one for one in files if one.fits(name)), key=lambda one: (one.name == name, len(one.name)), default=None
    )


def columns_of(path: Path) -> list[str]:
    table = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", comment="#", nrows=1)
    return [column for column in table.columns if not column.startswith("Unnamed")]


def written_files(*folders: Path) -> dict[Path, str]:
    """Every file of the folders of a demo and of results, with its name there."""
    places = [folder / place for folder in folders for place in set(TABLES.values())]
    return {path: path.relative_to(place).as_posix() for place in places for path in place.rglob("*") if path.is_file()}


def test_every_file_of_every_command_is_described_with_its_columns(readme: Path, tutorial: Path) -> None:
    for path, name in written_files(readme, tutorial).items():
        jobs = [job for job, place in TABLES.items() if place in path.parts]
        described = described_as(name, [*COMMON, *(one for job in jobs for one in PAGE[job])])
        assert described is not None, f"docs/outputs.md does not describe {name}."
        if path.suffix in (".csv", ".tsv"):
            unknown, missing = undescribed(columns_of(path), described)
            assert not unknown, f"docs/outputs.md does not describe {unknown} of {name}."
            assert not missing, f"{name} has no {missing}, which docs/outputs.md describes."


def test_every_described_table_was_written(readme: Path, tutorial: Path) -> None:
    there = set(written_files(readme, tutorial).values())
    asked_for = {"hub_reliability.csv"}  # with --halves
    for job in TABLES:
        for one in PAGE[job]:
            written = any(described_as(name, PAGE[job]) is one for name in there)
            assert written or one.name in asked_for, f"docs/outputs.md describes {one.name}, which {job} did not write."


def test_files_of_a_study_are_described(tmp_path: Path) -> None:
    out = tmp_path / "out"
    measure_participants(small_cohort(14), out, SETTINGS, replace(OPTIONS, small_world=1))
    group_level(out, DesignOptions(design="~ group", permutations=10), tell=lambda _: None)
    write_report(out)
    described, written = PAGE["biobgt study"], set()
    for path in (path for path in out.rglob("*") if path.is_file() and not path.name.startswith(".")):
        name = path.relative_to(out).as_posix()
        one = described_as(name, described)
        assert one is not None, f"docs/outputs.md does not describe {name}."
        written.add(one.name)
        if path.suffix == ".tsv":
            assert undescribed(columns_of(path), one) == ([], []), name
    assert written == {one.name for one in described}


def test_files_of_a_finding_in_all_ways_are_described(tmp_path: Path) -> None:
    about = {"finding": "mean-connectivity", "first": "NC", "second": "ASD", "permutations": 99}
    survive(plan_survival(small_cohort(14), ConnectomeSettings(), SurvivalOptions(**about)), tmp_path)
    described, written = PAGE["biobgt survive"], set()
    for path in (path for path in tmp_path.iterdir() if not path.name.startswith(".")):
        one = described_as(path.name, described)
        assert one is not None, f"docs/outputs.md does not describe {path.name}."
        written.add(one.name)
        if path.suffix == ".csv":
            assert undescribed(columns_of(path), one) == ([], []), path.name
    assert written == {one.name for one in described}


def test_predictions_are_described(readme: Path) -> None:
    table, _, about = PAGE["biobgt predict"]
    assert undescribed(columns_of(readme / "predictions.csv"), table) == ([], [])
    assert (readme / about.name.replace("NAME", "predictions")).is_file()


def test_figure_files_are_described(readme: Path, tutorial: Path) -> None:
    names = {path.relative_to(tutorial / "figures").as_posix() for path in (tutorial / "figures").rglob("*.*")}
    assert all(described_as(name, [*COMMON, *PAGE["biobgt figure"]]) for name in names), names
    assert (readme / "figures" / "figures" / "hub_curves.svg").is_file()


def test_model_folders_are_described() -> None:
    folder = ROOT / "pretrained" / MODEL
    evaluated = {"evaluation.csv": "results.csv", "nested.csv": "nested.csv"}
    for path in folder.iterdir():
        described = described_as(path.name, PAGE["biobgt train"])
        assert described is not None, path.name
        if path.suffix == ".csv":
            table = described if described.columns else described_as(evaluated[path.name], PAGE["biobgt evaluate"])
            assert undescribed(columns_of(path), table) == ([], [])


def test_arrays_of_a_model_folder_are_described() -> None:
    described = described_as("groups.npz", PAGE["biobgt train"])
    with np.load(ROOT / "pretrained" / MODEL / "groups.npz", allow_pickle=False) as arrays:
        assert undescribed(list(arrays), described) == ([], [])


def test_lines_of_the_benchmark_are_described() -> None:
    columns = columns_of(ROOT / "assets" / "studies" / "benchmark_abide.csv")
    (own,), evaluated = PAGE["biobgt benchmark"], described_as("results.csv", PAGE["biobgt evaluate"])
    assert columns == [*evaluated.columns, *own.columns]


def test_halves_are_described() -> None:
    cohort = demo_cohort("ad", n_per_group=1)
    halves = analyse_hubs(cohort, ConnectomeSettings(), HubAnalysisOptions(halves=True), workers=1).halves
    described = described_as("hub_reliability.csv", PAGE["biobgt hubs"])
    assert undescribed(list(halves.columns), described) == ([], [])


def test_lines_of_an_evaluation_are_described(typed: Typed, tmp_path: Path) -> None:
    rng, regions = np.random.default_rng(0), [f"region {letter}" for letter in "abcdefgh"]
    rows = ["participant_id,group"]
    (tmp_path / "study").mkdir()
    for number in range(12):
        shared = rng.standard_normal((80, 2))[:, [0, 1] * 4]
        series = pd.DataFrame(shared + rng.standard_normal((80, 8)), columns=regions)
        series.to_csv(tmp_path / "study" / f"s{number}.csv", index=False)
        rows.append(f"s{number},{'NC' if number % 2 else 'AD'}")
    (tmp_path / "study" / "participants.csv").write_text("\n".join(rows))
    with inside(tmp_path):
        typed("biobgt evaluate --cohort folder --data study --atlas unknown --splits 1 --device cpu --out results")
    for path in (tmp_path / "results").glob("*.csv"):
        described = described_as(path.name, [*COMMON, *PAGE["biobgt evaluate"]])
        assert described is not None, path.name
        assert undescribed(columns_of(path), described) == ([], []), path.name
    assert (tmp_path / "results" / "features").is_dir()
