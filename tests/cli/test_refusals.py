"""A careless user: every mistake ends with a sentence and an exit code, without a traceback or half a result."""

import os
import shutil
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ended_jobs import refused

from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.cli import main
from biobgt.data.connectivity import brain_graph
from biobgt.model.folder import WEIGHTS, model_folder


@pytest.fixture
def one(simulated) -> Path:
    return simulated / "sim-NC-001.tsv"


@pytest.fixture
def odd_name(tmp_path, one) -> Path:
    """A folder with a good file and one whose name is no UTF-8 text."""
    folder = tmp_path / "study"
    folder.mkdir()
    shutil.copy(one, folder / "good.tsv")
    try:
        shutil.copy(one, os.fsencode(folder) + b"/patient-\xff\xe9.tsv")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    return folder


def test_a_name_that_is_no_text_is_refused_and_the_rest_is_read(done, odd_name, tmp_path):
    ended = done("info", odd_name, "--out", tmp_path / "tables")
    assert "1 subject ·" in ended.out
    why = pd.read_csv(tmp_path / "tables" / "refused.csv")
    assert why["file"].tolist() == [r"patient-\udcff\udce9.tsv"]
    assert why["why"].str.contains("not UTF-8 text. Rename it").all()


def test_a_name_that_is_no_text_alone_is_one_sentence(run, odd_name):
    refused(run("info", os.fsdecode(os.fsencode(odd_name) + b"/patient-\xff\xe9.tsv")), "not UTF-8 text", "udcff")


def test_a_terminal_that_knows_only_ascii_gets_the_table(monkeypatch, simulated):
    screen = TextIOWrapper(BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "argv", ["biobgt", "info", str(simulated)])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    screen.flush()
    assert b"9 subjects" in screen.buffer.getvalue()


def test_a_damaged_table_of_groups_is_named_and_one_in_latin_1_is_read(run, done, simulated, tmp_path):
    (tmp_path / "groups.csv").write_bytes(b"\xff\xfe\x00")
    words = "'groups.csv' cannot be read. The file begins as Unicode"
    refused(run("info", simulated, "--phenotypes", tmp_path / "groups.csv"), words)
    (tmp_path / "groups.csv").write_bytes("subject,group\nsim-NC-001,contrôlé\n".encode("latin-1"))
    ended = done("info", simulated, "--phenotypes", tmp_path / "groups.csv")
    assert "Groups: 1 contrôlé" in ended.out


def test_a_table_that_may_not_be_opened_is_refused_and_the_cohort_read(done, simulated, monkeypatch):
    def closed(self: Path) -> bytes:
        if self.name == "participants.tsv":
            raise PermissionError(13, "Permission denied", str(self))
        return read(self)

    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", closed)
    ended = done("info", simulated)
    assert "Groups: none given" in ended.out
    assert "'participants.tsv' could not be opened (Permission denied)" in ended.out


def test_a_folder_that_may_not_be_opened_is_refused(done, one, tmp_path, monkeypatch):
    (tmp_path / "study" / "closed").mkdir(parents=True)
    shutil.copy(one, tmp_path / "study")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed")
    ended = done("info", tmp_path / "study")
    assert "You do not have permission to open this folder" in ended.out


@pytest.mark.parametrize(
    ("content", "words"), [(b"x", "Was it renamed or cut off?"), (None, "There is nothing to read in 'study'")]
)
def test_nothing_to_read(run, tmp_path, content, words):
    (tmp_path / "study").mkdir()
    if content is not None:
        (tmp_path / "study" / "a.npy").write_bytes(content)
    refused(run("hubs", tmp_path / "study", "--out", tmp_path / "out"), words)
    assert not (tmp_path / "out").exists()


def test_series_with_holes_name_the_first(run, tmp_path, bold):
    series = bold(120, 90)
    series[:, 3] = np.nan  # a region that is missing altogether may be
    series[7, 4] = np.nan
    np.savetxt(tmp_path / "a.csv", series, delimiter=",")
    refused(
        run("modules", tmp_path / "a.csv", "--atlas", "aal90", "--out", tmp_path / "out"),
        "time point 8, region 5 is nan",
    )
    assert not (tmp_path / "out").exists()


def test_a_matrix_beyond_one_has_no_fisher_z_and_no_prediction(run, tmp_path):
    (tmp_path / "study").mkdir()
    matrix = np.full((90, 90), 0.2)
    matrix[3, 4] = matrix[4, 3] = 1.5
    for name in ("a", "b", "c", "d"):
        np.savetxt(tmp_path / "study" / f"{name}.csv", matrix, delimiter=",")
    (tmp_path / "study" / "participants.tsv").write_text("participant_id\tgroup\na\tNC\nb\tNC\nc\tAD\nd\tAD\n")
    matrices = ("--kind", "connectivity", "--connectivity", "functional", "--atlas", "aal90")
    asked = ("compare", tmp_path / "study", *matrices, "--groups", "NC", "AD", "--of", "fc-blocks")
    refused(run(*asked, "--out", tmp_path / "out"), "values beyond ±1, for which Fisher z is undefined")
    predict = ("predict", tmp_path / "study" / "a.csv", *matrices, "--model", "adsim-aal90")
    refused(run(*predict, "--out", tmp_path / "out" / "p.csv"), "values beyond ±1; the model needs Pearson")
    assert not (tmp_path / "out").exists()


TRAIN = ("train", "--cohort", "folder", "--data", "{one}", "--out", "{out}")
EVALUATE = ("evaluate", "--cohort", "folder", "--data", "{study}", "--out", "{out}", "--threads", "1")
BENCHMARK = ("benchmark", *EVALUATE[1:])
PREDICT = ("predict", "{one}", "--out", "{out}/p.csv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("demo", "cancer", "--out", "{out}"), "There is no demo cohort 'cancer'."),
        (("info", "{study}", "--atlas", "cc200"), "the chosen atlas has 200 regions"),
        (("info", "{study}", "--phenotypes", "none.csv"), "There is no phenotype table 'none.csv'."),
        (("connectome", "{one}", "--out", "{out}", "--threshold", "proportional", "--level", "3"), "keeps a share"),
        (("connectome", "{one}", "--out", "{one}"), "cannot be made"),
        (("hubs", "{one}", "--out", "{out}", "--seed", "-1"), "The option 'seed' is -1"),
        (("hubs", "{one}", "--out", "{out}", "--nulls", "-1"), "The option 'nulls' is -1"),
        (("modules", "{one}", "--out", "{out}", "--workers", "0"), "--workers"),
        ((*TRAIN, "--threads", "0"), "--threads"),
        ((*TRAIN, "--seed", "-1"), "'seed' is -1; it must be 0 or more"),
        (TRAIN, "at least two groups"),
        ((*EVALUATE, "--model", "{out}/nowhere"), "There is no model"),
        ((*EVALUATE, "--protocol", "sites"), "No site can be left out"),
        ((*BENCHMARK, "--models", "svm,perceptron"), "There is no model of the benchmark 'perceptron'"),
        ((*BENCHMARK, "--reference", "nobody"), "There is no model of the benchmark 'nobody'"),
        ((*PREDICT, "--model", "mine"), "There is no model 'mine'"),
        ((*PREDICT, "--model", "x", "--device", "meta"), "no device 'meta'"),
        ((*PREDICT, "--model", "abide-cc200"), "trained on atlas cc200"),
        (("predict", "{one}", "--out", "{out}/p.txt", "--model", "x"), "not 'p.txt'"),
        (("predict", "{one}", "--out", "{folder}", "--model", "adsim-aal90"), "is a folder"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_exit_code_2(run, one, simulated, tmp_path, arguments, words):
    (tmp_path / "p.csv").mkdir()
    places = {"one": one, "study": simulated, "out": tmp_path / "deep" / "out", "folder": tmp_path / "p.csv"}
    refused(run(*(argument.format(**places) for argument in arguments)), words)
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_nameless_tables_to_train_on_are_asked_about_and_the_answer_is_taken(run, tmp_path, bold):
    for i in range(2):
        np.save(tmp_path / f"s{i}.npy", bold(90, 20))
    (tmp_path / "groups.csv").write_text("subject,group\ns0,NC\ns1,AD\n")
    for job in ("train", "evaluate"):
        asked = (job, "--cohort", "folder", "--data", tmp_path, "--out", tmp_path / "out", "--threads", 1)
        refused(run(*asked), "90 time points of 20 regions", "Answer with --orientation.")
        ended = run(*asked, "--orientation", "time-region")
        assert ended.code == 2  # two people are too few to be split
        assert "2 subjects on 20 regions, atlas not known: 1 NC, 1 AD." in ended.err


def test_evaluate_runs_in_one_process(run, simulated, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    asked = ("evaluate", "--cohort", "folder", "--data", simulated, "--out", tmp_path / "out")
    refused(run(*asked), "'biobgt evaluate' runs in one process. Start it without torchrun")


def test_a_damaged_model_is_refused(run, one, tmp_path):
    shutil.copytree(model_folder("adsim-aal90"), tmp_path / "mine")
    (tmp_path / "mine" / WEIGHTS).write_bytes(b"cut")
    refused(run("attention", one, "--model", tmp_path / "mine", "--out", tmp_path / "out"), "SHA-256 differs")
    assert not (tmp_path / "out").exists()


def test_something_in_the_way_leaves_all_as_it_was(run, one, tmp_path):
    (tmp_path / "module_summary.csv").mkdir()
    refused(run("modules", one, "--out", tmp_path, "--workers", 1, "--runs", 1), "module_summary.csv' is in the way")
    assert [path.name for path in tmp_path.iterdir()] == ["module_summary.csv"]


def test_a_folder_that_cannot_be_written_to_is_said_before_the_work(run, one, tmp_path, monkeypatch):
    def read_only(*_: object, **__: object) -> str:
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr("biobgt.base.folders.mkdtemp", read_only)
    monkeypatch.setattr("biobgt.cli.networks.analyse_hubs", lambda *_, **__: pytest.fail("it went to work"))
    refused(run("hubs", one, "--out", tmp_path / "out"), "cannot be written to (Read-only file system)")
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_a_sentence_and_a_traceback_for_debug(run, one, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("biobgt.cli.subjects.write_reading", full)
    assert "cannot be read or written (No space left on device)" in run("info", one, "--out", tmp_path / "out").err
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(sys, "argv", ["biobgt", "--debug", "info", str(one), "--out", str(tmp_path / "out")])
    with pytest.raises(OSError, match="No space left"):
        main()


def test_ctrl_c_in_the_middle_adds_nothing_to_a_folder_and_makes_none(run, simulated, tmp_path, monkeypatch):
    def stopped(measured):
        if measured.subject.id != measured.cohort.ids[0]:
            raise KeyboardInterrupt
        return brain_graph(measured.subject, measured.atlas, measured.settings)

    (tmp_path / "old").mkdir()
    monkeypatch.setattr("biobgt.results.measured.Measured.graph", stopped)
    for out in (tmp_path / "old", tmp_path / "new"):
        ended = run("connectome", simulated, "--out", out)
        assert ended.code == 130
        assert ended.err == "Stopped before the end: no results were written.\n"
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]


@pytest.mark.parametrize(
    "name", ["a" * 100_000, "it's " * 20_000, "\U0001f9e0" * 100_000], ids=["word", "quotes", "brains"]
)
def test_a_refusal_quotes_no_more_than_one_reads(run, one, name):
    ended = run("info", one, "--atlas", name)
    refused(ended)
    assert 20 < len(ended.err) < 3_000


def test_a_question_and_a_card_quote_no_more_either():
    endless = "a" * 100_000
    question = ChoiceNeeded(f"What is '{endless}'?", option="atlas", choices=["cc200"])
    assert len(question.question) < 300
    assert str(question).endswith("Choose atlas: cc200.")
    again = InputError(str(InputError(f"{endless} {endless}. Do this.")))
    assert str(again).endswith("Do this.")
    assert len(str(again)) < 2_001
    assert str(InputError("Short 'words' stay.")) == "Short 'words' stay."
