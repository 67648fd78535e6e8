"""What every command shares: names of cohorts, options, formats, what is printed."""

import re
import shlex
import shutil
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import typer
import typer.main
from ended_jobs import Run, biobgt, refused

from biobgt import ConnectomeSettings, ImageOptions, ReadOptions
from biobgt.base.files import file_names
from biobgt.cli.main import _OUT, JOBS, _escape_controls, _first_paragraph, app, print_line, print_notice, print_table
from biobgt.cli.models import _BenchmarkOptions, _EvaluationOptions, _TrainingOptions
from biobgt.data.connectivity import functional_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.figures.paper_style import PaperStyle
from biobgt.readers.fetch import FetchOptions
from biobgt.training.cohorts import DATASETS, CohortKind


def test_help_lists_the_jobs():
    result = biobgt("--help")
    assert result.code == 0
    assert all(job in result.out for job in ("info", "connectome", "demo", "atlases", "fetch"))
    assert biobgt("--version").out.startswith("biobgt 0.")


def test_the_demo_is_read_back_as_it_was_drawn_and_stays_marked(simulated_cohort):
    drawn = demo_cohort("ad", n_per_group=3, seed=1)
    assert simulated_cohort.ids == tuple(sorted(drawn.ids))
    assert dict(simulated_cohort.group_sizes) == {"NC": 3, "MCI": 3, "AD": 3}
    assert all(subject.simulated for subject in simulated_cohort)
    np.testing.assert_allclose(simulated_cohort["sim-AD-001"].series, drawn["sim-AD-001"].series, rtol=1e-5)


def test_info(done, simulated, tmp_path):
    ended = done("info", simulated, "--out", tmp_path / "tables")
    assert "9 subjects · AAL-90 (cerebrum) (90 regions) · series" in ended.out
    assert "SIMULATED: 9 of the subjects" in ended.out
    assert "Atlas: AAL-90 (cerebrum), told by the region names." in ended.out
    assert "Groups: 3 NC, 3 MCI, 3 AD" in ended.out
    quality = pd.read_csv(tmp_path / "tables" / "quality.csv")
    assert len(quality) == 9
    sources = pd.read_csv(tmp_path / "tables" / "sources.csv")
    assert sources["sha256"].str.len().eq(64).all()


def test_info_says_that_regions_have_the_same_series(done, tmp_path, bold):
    series = bold(150, 40)
    series[:, 5:35] = series[:, [5]]
    names = [f"area {letter}{i}" for i in range(20) for letter in "LR"]
    pd.DataFrame(series, columns=names).to_csv(tmp_path / "s.csv", index=False)
    ended = done("info", tmp_path / "s.csv")
    assert "same series" in ended.out
    said = " ".join(ended.out.replace("│", " ").split())
    assert "30 regions (area R2, area L3, area R3, …) have the same series as another region" in said


def test_connectome_writes_the_graphs(done, simulated, simulated_cohort, tmp_path):
    arguments = ("--sign", "signed", "--threshold", "proportional", "--level", 0.1)
    done("connectome", simulated, "--out", tmp_path, *arguments)
    weights = pd.read_csv(tmp_path / "graphs" / "sim-MCI-002.csv", index_col=0)
    fc = functional_connectivity(simulated_cohort["sim-MCI-002"].series)
    kept = weights.to_numpy() != 0
    np.testing.assert_allclose(weights.to_numpy()[kept], fc[kept], atol=1e-7)
    assert kept.sum() == 2 * round(0.1 * 90 * 89 / 2)
    assert weights.columns[0] == "Precentral_L"


def test_refused_files_are_said_and_listed(done, simulated, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "good.tsv").write_text((simulated / "sim-NC-001.tsv").read_text())
    (folder / "bad.tsv").write_text("")
    ended = done("connectome", folder, "--out", tmp_path / "out")
    assert "Refused: 1 file; refused.csv says why" in ended.out
    assert pd.read_csv(tmp_path / "out" / "refused.csv")["why"].tolist() == ["The file is empty."]


def test_bad_input_ends_the_process_with_one_sentence_and_exit_code_2():
    refused(biobgt("info", "nowhere"), "There is no file or folder 'nowhere'.")


@pytest.mark.parametrize("arguments", [("--debug", "info", "nowhere"), ("info", "nowhere", "--debug")])
def test_debug_shows_the_traceback(arguments):
    result = biobgt(*arguments)
    assert result.code != 0
    assert "Traceback" in result.err


def test_file_names_are_made_safe_and_stay_apart():
    names = file_names(["../a b", "..", "a b", "a_b", "A_b"])
    assert list(names.values()) == [".._a_b", "subject_..", "a_b", "a_b_2", "A_b_3"]


def test_a_small_number_is_not_shown_as_none(capsys):
    print_table(pd.DataFrame({"p": [0.00019996, 0.0123456, 0.0, np.nan]}), title="Tests")
    cells = [line.strip("│ \n") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert cells == ["0.0002", "0.012", "0.000", ""]


def test_a_real_cni_folder(run, done, shared_data):
    folder = shared_data / "raw" / "cni2019"
    refused(run("info", folder), "Choose atlas: aal116 or cc200.")
    ended = done("info", folder, "--atlas", "aal116")
    assert "4 subjects · AAL-116" in ended.out
    assert "Groups: 2 NC, 2 ADHD" in ended.out


def command(*names):
    found = typer.main.get_command(app)
    for name in names:
        found = found.get_command(None, name)
    return found


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (("info",), (ReadOptions, ImageOptions)),
        (("hubs",), (ReadOptions, ImageOptions, ConnectomeSettings)),
        (("figure",), (ReadOptions, ImageOptions, ConnectomeSettings, PaperStyle)),
        (("fetch", "abide"), (FetchOptions,)),
        (("train",), (_TrainingOptions,)),
        (("evaluate",), (_EvaluationOptions,)),
        (("benchmark",), (_BenchmarkOptions,)),
    ],
)
def test_every_option_has_its_flags_its_default_and_its_help(names, kinds):
    given = {parameter.name: parameter for parameter in command(*names).params}
    for kind in kinds:
        for name, one in kind.declared().items():
            parameter = given[name]
            assert (*parameter.opts, *parameter.secondary_opts) == one.flags
            of_cohort = kind is ConnectomeSettings and one.default_of is not None  # follows its kind of connectivity
            assert parameter.default == (None if of_cohort else one.default)
            assert parameter.help.startswith(one.help or one.title)


def test_every_kind_of_cohort_has_its_story_and_its_name_on_the_command_line():
    assert get_args(CohortKind) == tuple(DATASETS)


DRAWN = {
    "info": (),
    "connectome": ("--out", "out"),
    "hubs": ("--workers", 1, "--out", "out"),
    "modules": ("--workers", 1, "--out", "out"),
    "compare": ("--groups", "NC", "ASD", "--of", "fc-blocks", "--permutations", 20, "--workers", 1, "--out", "out"),
    "predict": ("--model", "abide-cc200", "--out", "out.csv"),
    "attention": ("--model", "abide-cc200", "--out", "out"),
}


@pytest.mark.parametrize("command", DRAWN)
def test_every_command_draws_a_demo(done, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("biobgt.readers.fetch.demo_cohort", lambda name: demo_cohort(name, n_per_group=2))
    ended = done(command, "demo:asd", *DRAWN[command])
    assert "SIMULATED" in ended.out


def test_a_demo_that_is_not_there_or_is_to_be_read_in_another_way_is_refused(run, tmp_path):
    refused(run("hubs", "demo:other", "--out", tmp_path / "out"), "other")
    refused(run("hubs", "demo:asd", "--atlas", "aal90", "--out", tmp_path / "out"), "drawn")


WIDE = pd.DataFrame({"feature": ["a", "b"], **{f"column {i}": [i + 0.5, None] for i in range(12)}})


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_no_column_is_lost_in_a_narrow_terminal(width, monkeypatch, capsys) -> None:
    monkeypatch.setattr(_OUT, "_width", width)
    print_table(WIDE, title="Features")
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= width
    assert all(f"{i}.500" in text for i in range(12))
    assert "…" not in text
    assert text.count("Features") == 1
    parts = text.count("┏")
    assert (parts == 1) == (width == 200)
    for start in ("┃ feature", "│ a"):  # every part begins with the first column
        assert len(re.findall(f"^{start}", text, re.MULTILINE)) == parts


@pytest.mark.parametrize("name", JOBS)
def test_a_command_says_in_the_list_what_it_says_itself(name: str, run: Run) -> None:
    sentence = _first_paragraph(*JOBS[name].split(":"))
    assert sentence
    listed, own = (" ".join(run(*words).out.replace("│", " ").split()) for words in (["--help"], [name, "--help"]))
    assert " ".join(sentence.split()) in listed
    assert " ".join(sentence.split()) in own


@pytest.mark.parametrize("name", [*JOBS, "fetch abide", "models add", "models remove"])
def test_the_examples_of_a_command_are_right(name: str) -> None:
    described = command(*name.split())
    heading, *examples = described.epilog.split("\n\n")
    assert heading == "Examples:"
    assert len(examples) == 2
    for example in examples:
        words = [word for word in shlex.split(example) if not word.startswith("COLUMNS=")]
        assert words[: 1 + len(name.split())] == ["biobgt", *name.split()]
        described.make_context(name, words[1 + len(name.split()) :])  # an option or value that is not there is refused


def test_help_names_demos_and_puts_options_under_headings(run: Run) -> None:
    said = run("hubs", "--help").out
    assert "demo:asd" in said
    for heading in ("What to read", "Images", "Brain graph", "Hubs", "Where to run"):
        assert f"─ {heading} ─" in said


def test_an_unknown_command_is_refused_with_a_sentence(run: Run) -> None:
    refused(run("hub"), "No such command 'hub'")


EVIL = "b\x1b]0;PWNED\x1b\\\x07\x9b31m\u202ecod"


def test_names_that_are_commands_to_a_terminal_are_printed_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(pd.DataFrame({"file": [EVIL], EVIL: [1.0]}), title=EVIL)
    print_line(EVIL)
    print_notice(EVIL)
    shown = "".join(capsys.readouterr())
    assert not set(shown) & set("\x1b\x07\x9b\u202e")
    assert shown.count(r"b\x1b]0;PWNED\x1b\\x07\x9b31m\u202ecod") >= 4
    assert _escape_controls("Zürich, 脑\tone\n") == "Zürich, 脑\tone\n"


def test_a_refused_file_with_such_a_name_is_told_without_commands(
    run: Run, done: Run, simulated: Path, tmp_path: Path
) -> None:
    shutil.copy(simulated / "sim-NC-001.tsv", tmp_path / "good.tsv")
    try:
        (tmp_path / "b\x1b]0;PWNED\x1b.mat").touch()
    except OSError:
        pytest.skip("this file system takes no such names")
    ended = done("info", tmp_path)
    assert "PWNED" in ended.out
    (tmp_path / "good.tsv").unlink()
    alone = run("info", tmp_path)
    assert alone.code == 2
    assert "PWNED" in alone.err
    assert "\x1b" not in ended.out + ended.err + alone.out + alone.err
