"""The list of commands, and tables in terminals of any width."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import typer
from ended_jobs import Run

from biobgt.cli import screen
from biobgt.cli.main import JOBS, app, first_paragraph
from biobgt.cli.models import tell

WIDE = pd.DataFrame({"feature": ["a", "b"], **{f"column {i}": [i + 0.5, None] for i in range(12)}})


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[int], str]:
    """The table as a terminal of some width shows it."""

    def print_at(width: int) -> str:
        monkeypatch.setattr(screen.out, "_width", width)
        screen.print_table(WIDE, title="Features")
        return capsys.readouterr().out

    return print_at


@pytest.mark.parametrize("width", [30, 80, 200])
def test_no_column_is_lost_in_a_narrow_terminal(width: int, printed: Callable[[int], str]) -> None:
    text = printed(width)
    assert max(map(len, text.splitlines())) <= width
    assert all(f"{i}.500" in text for i in range(12))
    assert "…" not in text
    assert text.count("Features") == 1


def test_every_part_begins_with_the_first_column(printed: Callable[[int], str]) -> None:
    text = printed(60)
    heads = re.findall(r"^┃ (\w+)", text, re.MULTILINE)
    assert heads.count("feature") > 1
    assert len(re.findall(r"^│ a", text, re.MULTILINE)) == heads.count("feature")


def test_a_table_that_fits_is_one(printed: Callable[[int], str]) -> None:
    assert printed(200).count("┏") == 1


@pytest.mark.parametrize("name", JOBS)
def test_a_command_says_in_the_list_what_it_says_itself(name: str, run: Run) -> None:
    sentence = first_paragraph(*JOBS[name].split(":"))
    assert sentence
    listed, own = (" ".join(run(*words).out.replace("│", " ").split()) for words in (["--help"], [name, "--help"]))
    assert " ".join(sentence.split()) in listed
    assert " ".join(sentence.split()) in own


@pytest.mark.parametrize("name", [*JOBS, "fetch abide"])
def test_the_examples_of_a_command_are_right(name: str) -> None:
    group = typer.main.get_command(app)
    context = group.make_context("biobgt", [name.split()[0]], resilient_parsing=True)
    command = group.get_command(context, name.split()[0])
    if name.startswith("fetch"):
        command = command.get_command(context, "abide")
    heading, *examples = command.epilog.split("\n\n")
    assert heading == "Examples:"
    assert len(examples) == 2
    for example in examples:
        words = [word for word in shlex.split(example) if not word.startswith("COLUMNS=")]
        assert words[: 1 + len(name.split())] == ["biobgt", *name.split()]
        command.make_context(name, words[1 + len(name.split()) :])  # an option or value that is not there is refused


def test_options_stand_under_headings(run: Run) -> None:
    said = run("hubs", "--help").out
    for heading in ("What to read", "Images", "Brain graph", "Hubs", "Where to run"):
        assert f"─ {heading} ─" in said


def test_an_unknown_command_is_refused_with_a_sentence(run: Run) -> None:
    ended = run("hub")
    assert ended.code == 2
    assert "No such command 'hub'" in ended.err


EVIL = "b\x1b]0;PWNED\x1b\\\x07\x9b31m\u202ecod"


def test_names_that_are_commands_to_a_terminal_are_printed_as_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    screen.print_table(pd.DataFrame({"file": [EVIL], EVIL: [1.0]}), title=EVIL)
    screen.print_line(EVIL)
    screen.print_notice(EVIL)
    tell(EVIL)
    shown = "".join(capsys.readouterr())
    assert not set(shown) & set("\x1b\x07\x9b\u202e")
    assert shown.count(r"b\x1b]0;PWNED\x1b\\x07\x9b31m\u202ecod") >= 4
    assert screen.escape_controls("Zürich, 脑\tone\n") == "Zürich, 脑\tone\n"


def test_a_refused_file_with_such_a_name_is_told_without_commands(run: Run, simulated: Path, tmp_path: Path) -> None:
    shutil.copy(simulated / "sim-NC-001.tsv", tmp_path / "good.tsv")
    try:
        (tmp_path / "b\x1b]0;PWNED\x1b.mat").touch()
    except OSError:
        pytest.skip("this file system takes no such names")
    ended = run("info", tmp_path)
    assert ended.code == 0
    assert "PWNED" in ended.out
    (tmp_path / "good.tsv").unlink()
    alone = run("info", tmp_path)
    assert alone.code == 2
    assert "PWNED" in alone.err
    assert "\x1b" not in ended.out + ended.err + alone.out + alone.err
