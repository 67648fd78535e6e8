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
from biobgt.base.folders import MANIFEST
from biobgt.cli import main
from biobgt.cli.arguments import results_folder
from biobgt.data.connectivity import brain_graph
from biobgt.model.pretrained import CARD, WEIGHTS, model_folder


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


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("groups.csv", b"", "'groups.csv' cannot be read. The file is empty."),
        ("groups.csv", b"\xff\xfe\x00", "'groups.csv' cannot be read. The file begins as Unicode"),
        ("groups.csv", b"subject\n", "has no rows"),
        ("groups.xlsx", b"PK\x03\x04junk", "cannot be read as an Excel workbook"),
    ],
)
def test_a_phenotype_table_that_cannot_be_used_is_named(run, simulated, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    refused(run("info", simulated, "--phenotypes", tmp_path / name), words)


def test_groups_in_latin_1_are_read(done, simulated, tmp_path):
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("modules", "{one}", "--out", "{out}", "--workers", "0"), ("--workers", "1")),
        (("train", "--cohort", "folder", "--data", "{one}", "--out", "{out}", "--threads", "0"), ("--threads", "1")),
        (
            ("train", "--cohort", "folder", "--data", "{one}", "--out", "{out}", "--seed", "-1"),
            ("'seed' is -1; it must be 0 or more",),
        ),
        (("train", "--cohort", "folder", "--data", "{one}", "--out", "{out}"), ("at least two groups",)),
        (("predict", "{one}", "--out", "{out}/p.csv", "--model", "mine"), ("There is no model 'mine'",)),
        (("predict", "{one}", "--out", "{out}/p.csv", "--model", "x", "--device", "meta"), ("no device 'meta'",)),
        (("predict", "{one}", "--out", "{out}/p.txt", "--model", "x"), ("a .csv file", "not 'p.txt'")),
        (("predict", "{one}", "--out", "{out}/p.csv", "--model", "abide-cc200"), ("trained on atlas cc200",)),
    ],
)
def test_options_that_make_no_sense(run, one, tmp_path, arguments, words):
    out = tmp_path / "deep" / "out"
    refused(run(*(str(argument).format(one=one, out=out) for argument in arguments)), *words)
    assert not (tmp_path / "deep").exists()


def test_evaluate_looks_for_the_model_before_the_long_work(run, simulated, tmp_path):
    asked = ("evaluate", "--cohort", "folder", "--data", simulated, "--out", tmp_path / "out", "--threads", 1)
    refused(run(*asked, "--model", tmp_path / "nowhere"), "There is no model")
    refused(run(*asked, "--protocol", "sites"), "No site can be left out")
    assert not (tmp_path / "out").exists()


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


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        (CARD, b"{", "card of model"),
        (CARD, b"\xff\xfe\x00", "card of model"),
        (CARD, b"[1]", "is not valid at its top"),
        (WEIGHTS, b"cut", "SHA-256 differs"),
        (WEIGHTS, None, "model.safetensors is missing"),
    ],
)
def test_a_damaged_model(run, one, tmp_path, file, content, words):
    shutil.copytree(model_folder("adsim-aal90"), tmp_path / "mine", ignore=shutil.ignore_patterns("groups.npz"))
    (tmp_path / "mine" / file).unlink()
    if content is not None:
        (tmp_path / "mine" / file).write_bytes(content)
    refused(run("attention", one, "--model", tmp_path / "mine", "--out", tmp_path / "out"), words)
    assert not (tmp_path / "out").exists()


def test_a_folder_where_a_file_should_be_written(run, one, tmp_path):
    (tmp_path / "p.csv").mkdir()
    refused(run("predict", one, "--model", "adsim-aal90", "--out", tmp_path / "p.csv"), "is a folder")


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


def test_ctrl_c_in_the_middle_keeps_what_was_there_and_adds_nothing(run, simulated, tmp_path, monkeypatch):
    def stopped(measured):
        if measured.subject.id != measured.cohort.ids[0]:
            raise KeyboardInterrupt
        return brain_graph(measured.subject, measured.atlas, measured.settings)

    (tmp_path / "old" / "graphs").mkdir(parents=True)
    (tmp_path / "old" / "graphs" / "sim-AD-001.csv").write_text("as before")
    monkeypatch.setattr("biobgt.results.measured.Measured.graph", stopped)
    for out in (tmp_path / "old", tmp_path / "new"):
        ended = run("connectome", simulated, "--out", out)
        assert ended.code == 130
        assert "Stopped before the end: no results were written." in ended.err
        assert "Traceback" not in ended.err
    assert not (tmp_path / "new").exists()
    assert [path.name for path in (tmp_path / "old").rglob("*")] == ["graphs", "sim-AD-001.csv"]
    assert (tmp_path / "old" / "graphs" / "sim-AD-001.csv").read_text() == "as before"


def test_results_replace_older_ones_of_their_name_and_no_others(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("old")
    (tmp_path / "tables" / "b.csv").write_text("old")
    with results_folder(tmp_path, job="tables") as folder:
        (folder / "tables").mkdir()
        (folder / "tables" / "a.csv").write_text("new")
        assert (tmp_path / "tables" / "a.csv").read_text() == "old"
    assert {path.name: path.read_text() for path in tmp_path.rglob("*.csv")} == {"a.csv": "new", "b.csv": "old"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [MANIFEST, "tables"]


def test_benchmark_names_the_models_there_are_before_the_long_work(run, simulated, tmp_path):
    asked = ("benchmark", "--cohort", "folder", "--data", simulated, "--out", tmp_path / "out", "--threads", 1)
    refused(run(*asked, "--models", "svm,perceptron"), "There is no model of the benchmark 'perceptron'. Choose one of")
    refused(run(*asked, "--reference", "nobody"), "There is no model of the benchmark 'nobody'")
    assert not (tmp_path / "out").exists()


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
