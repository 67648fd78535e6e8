"""The command line as a user meets it; in a process of its own where starting and ending one matter."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_process import biobgt

from biobgt import read_cohort
from biobgt.base.files import file_names
from biobgt.cli.screen import print_table
from biobgt.data.connectivity import functional_connectivity
from biobgt.data.simulate import demo_cohort


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    result = biobgt("demo", "ad", "--n-per-group", 2, "--out", folder)
    assert result.returncode == 0, result.stderr
    return folder


def test_help_lists_the_jobs():
    result = biobgt("--help")
    assert result.returncode == 0
    for job in ("info", "connectome", "demo", "atlases", "fetch"):
        assert job in result.stdout


def test_version(run):
    assert run("--version").out.startswith("biobgt 0.")


def test_the_demo_is_read_back_as_it_was_drawn_and_stays_marked(demo):
    cohort = read_cohort(demo)
    drawn = demo_cohort("ad", n_per_group=2)
    assert cohort.ids == tuple(sorted(drawn.ids))
    assert dict(cohort.group_sizes) == {"NC": 2, "MCI": 2, "AD": 2}
    assert all(subject.simulated for subject in cohort)
    np.testing.assert_allclose(cohort["sim-AD-001"].series, drawn["sim-AD-001"].series, rtol=1e-5)


def test_info(run, demo, tmp_path):
    ended = run("info", demo, "--out", tmp_path / "tables")
    assert ended.code == 0
    assert "6 subjects · AAL-90 (cerebrum) (90 regions) · series" in ended.out
    assert "SIMULATED: 6 of the subjects" in ended.out
    assert "Atlas: AAL-90 (cerebrum), told by the region names." in ended.out
    assert "Groups: 2 NC, 2 MCI, 2 AD" in ended.out
    quality = pd.read_csv(tmp_path / "tables" / "quality.csv")
    assert len(quality) == 6
    sources = pd.read_csv(tmp_path / "tables" / "sources.csv")
    assert sources["sha256"].str.len().eq(64).all()


def test_info_says_that_regions_have_the_same_series(run, tmp_path, bold):
    series = bold(150, 40)
    series[:, 5:35] = series[:, [5]]
    names = [f"area {letter}{i}" for i in range(20) for letter in "LR"]
    pd.DataFrame(series, columns=names).to_csv(tmp_path / "s.csv", index=False)
    ended = run("info", tmp_path / "s.csv")
    assert ended.code == 0, ended.err
    assert "same series" in ended.out
    said = " ".join(ended.out.replace("│", " ").split())
    assert "30 regions (area R2, area L3, area R3, …) have the same series as another region" in said


def test_connectome_writes_the_graphs(run, demo, tmp_path):
    arguments = ("--sign", "signed", "--threshold", "proportional", "--level", 0.1)
    ended = run("connectome", demo, "--out", tmp_path, *arguments)
    assert ended.code == 0, ended.err
    weights = pd.read_csv(tmp_path / "graphs" / "sim-MCI-002.csv", index_col=0)
    subject = read_cohort(demo)["sim-MCI-002"]
    fc = functional_connectivity(subject.series)
    kept = weights.to_numpy() != 0
    np.testing.assert_allclose(weights.to_numpy()[kept], fc[kept], atol=1e-7)
    assert kept.sum() == 2 * round(0.1 * 90 * 89 / 2)
    assert weights.columns[0] == "Precentral_L"


def test_hubs_and_modules_write_tables_of_one_subject_side_by_side(demo, tmp_path):
    for job in ("hubs", "modules"):
        result = biobgt(job, demo / "sim-NC-001.tsv", "--out", tmp_path, "--workers", 1)
        assert result.returncode == 0, result.stderr
    hubs = pd.read_csv(tmp_path / "hubs" / "sim-NC-001.csv")
    assert len(hubs) == 90
    assert hubs["node_entanglement_hub"].sum() == 9
    settings = pd.read_csv(tmp_path / "hub_settings.csv").set_index("setting")["value"]
    assert settings["simulated"] == "True"
    modules = pd.read_csv(tmp_path / "modules" / "sim-NC-001.csv")
    assert modules["module"].tolist() == pd.read_csv(tmp_path / "module_groups.csv")["all"].tolist()
    assert pd.read_csv(tmp_path / "sources.csv")["sha256"].str.len().tolist() == [64]


def test_refused_files_are_said_and_listed(run, demo, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "good.tsv").write_text((demo / "sim-NC-001.tsv").read_text())
    (folder / "bad.tsv").write_text("")
    ended = run("connectome", folder, "--out", tmp_path / "out")
    assert ended.code == 0
    assert "Refused: 1 file; refused.csv says why" in ended.out
    assert pd.read_csv(tmp_path / "out" / "refused.csv")["why"].tolist() == ["The file is empty."]


def test_atlases(run):
    listed = run("atlases").out
    assert "cc200" in listed
    assert "power264" in listed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("demo", "cancer", "--out", "x"), "There is no demo cohort 'cancer'."),
        (("info", "{demo}", "--atlas", "cc200"), "the chosen atlas has 200 regions"),
        (("info", "{demo}", "--phenotypes", "none.csv"), "There is no phenotype table 'none.csv'."),
        (("connectome", "{demo}", "--out", "x", "--threshold", "proportional", "--level", "3"), "keeps a share"),
        (("connectome", "{demo}", "--out", "{demo}/participants.tsv"), "cannot be made"),
        (("hubs", "{demo}", "--out", "{demo}/h", "--seed", "-1"), "The option 'seed' is -1"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(run, demo, arguments, sentence):
    ended = run(*(str(argument).format(demo=demo) for argument in arguments))
    assert ended.code == 2
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_bad_input_ends_the_process_with_one_sentence_and_exit_code_2():
    result = biobgt("info", "nowhere")
    assert result.returncode == 2
    assert "There is no file or folder 'nowhere'." in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [("--debug", "info", "nowhere"), ("info", "nowhere", "--debug")])
def test_debug_shows_the_traceback(arguments):
    result = biobgt(*arguments)
    assert result.returncode != 0
    assert "Traceback" in result.stderr


def test_file_names_are_made_safe_and_stay_apart():
    names = file_names(["../a b", "..", "a b", "a_b", "A_b"])
    assert list(names.values()) == [".._a_b", "subject_..", "a_b", "a_b_2", "A_b_3"]


def test_a_small_number_is_not_shown_as_none(capsys):
    print_table(pd.DataFrame({"p": [0.00019996, 0.0123456, 0.0, np.nan]}), title="Tests")
    cells = [line.strip("│ \n") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert cells == ["0.0002", "0.012", "0.000", ""]
