"""Results appear whole or not at all, and tables that spreadsheets open run nothing."""

import ast
import csv
import io
import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from full_disk import files_end_at
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from biobgt import Cohort, Subject, read_cohort
from biobgt.base.files import _as_meant, atomic_file, meant, safe_table, safe_text, write_atomically, write_csv
from biobgt.base.wording import escape_markdown
from biobgt.cli.arguments import write_reading, write_table
from biobgt.data.atlas import numbered_atlas
from biobgt.readers.phenotypes import read_phenotypes


def test_what_is_written_replaces_what_was_there(tmp_path):
    file = tmp_path / "card.json"
    write_atomically(file, "γ")
    assert file.read_text(encoding="utf-8") == "γ"
    file.chmod(0o640)
    write_atomically(file, b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["card.json"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "card.json").write_text("old")
    with files_end_at(1000), pytest.raises(OSError, match="File too large"):
        write_atomically(tmp_path / "card.json", "x" * 5000)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"card.json": "old"}


def test_a_library_that_is_stopped_leaves_nothing(tmp_path):
    def half() -> None:
        with atomic_file(tmp_path / "model") as file:
            file.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_cleared_by_the_next(tmp_path):
    child = os.fork()
    if child == 0:
        with atomic_file(tmp_path / "card.json") as file:
            file.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".card.json.")
    write_atomically(tmp_path / "another.json", "{}")
    assert left.exists()  # of another file
    write_atomically(tmp_path / "card.json", "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another.json", "card.json"]


def test_what_another_still_writes_is_left_alone(tmp_path):
    with atomic_file(tmp_path / "card.json") as file:
        file.write_text("first")
        write_atomically(tmp_path / "card.json", "second")
        assert file.read_text() == "first"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"card.json": "first"}


DANGEROUS = ("=1+1", "+SUM(A1)", "-2+3+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1", '=HYPERLINK("x")', "＝1")
MARKUP = (
    "<script>x</script>",
    "[x](javascript:alert(1))",
    "![x](http://x)",
    "**bold** _it_ `code`",
    "__0__",
    "&lt;b&gt;",
    "<http://x>",
)
WORDS = st.text(st.characters(codec="utf-8"), max_size=12)


@pytest.mark.parametrize("text", DANGEROUS)
def test_formulas_are_written_as_text(text: str) -> None:
    assert safe_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-0.5", "+3", "-1e-05", "-.5", "-1,5", "sub-01", "", "'quoted'", "a=b"])
def test_numbers_and_other_words_stay(text: str) -> None:
    assert safe_text(text) == _as_meant(text) == text


@given(WORDS | st.sampled_from(["'=1", "''=1", "'-3", "-3", *DANGEROUS]))
def test_every_text_comes_back(text: str) -> None:
    assert _as_meant(safe_text(text)) == text
    assert not safe_text(text).startswith(("=", "@"))


def test_a_table_is_safe_in_cells_header_and_index() -> None:
    table = pd.DataFrame(
        {"subject": ["=a", "b"], "=r": [-0.5, -1.5], "x": [1, -2], "mixed": ["-3", None]}, index=["@i", "j"]
    )
    safe = safe_table(table)
    assert safe["subject"].tolist() == ["'=a", "b"]
    assert list(safe.columns) == ["subject", "'=r", "x", "mixed"]
    assert list(safe.index) == ["'@i", "j"]
    assert safe["'=r"].tolist() == [-0.5, -1.5]
    assert safe["'=r"].dtype == float
    pd.testing.assert_frame_equal(meant(safe), table)
    rows = list(csv.reader(io.StringIO(write_csv(table, index=False))))
    assert rows[1] == ["'=a", "-0.5", "1", "-3"]


def test_tables_keep_types_without_rows_and_with_doubled_columns() -> None:
    assert list(safe_table(pd.DataFrame(columns=["file", "why"])).columns) == ["file", "why"]
    doubled = pd.DataFrame([["=a", -1.0, 2.0]], columns=["subject", "r", "r"])
    assert safe_table(doubled).to_numpy().tolist() == [["'=a", -1.0, 2.0]]


def test_ids_of_files_survive_export_and_reading(tmp_path: Path, rng: np.random.Generator) -> None:
    """Subjects with ids that are formulas: the tables we write name them safely, and are read as phenotypes again."""
    study = tmp_path / "study"
    study.mkdir()
    ids = ["=1+1_0000001", "+a_0000001", "-b_0000001", "@c_0000001", "d_0000001"]
    for name in ids:
        np.savetxt(study / f"{name}_rois_cc200.1D", rng.standard_normal((40, 200)))
    cohort = read_cohort(study, atlas="cc200")
    assert sorted(cohort.ids) == sorted(ids)
    write_reading(cohort, tmp_path)
    table = pd.DataFrame({"subject": list(cohort.ids), "group": ["=NC"] * 5, "score": [-1.0, -2.5, 3, 4, 5]})
    write_table(table, tmp_path / "phenotypes.csv")
    for file in ("sources.csv", "phenotypes.csv"):
        for row in csv.reader((tmp_path / file).open()):
            assert not any(cell.startswith(("=", "+", "@")) for cell in row)
    again = read_phenotypes(tmp_path / "phenotypes.csv").table
    pd.testing.assert_frame_equal(again[list(table)], table, check_dtype=False)
    joined = read_cohort(study, atlas="cc200", phenotypes=tmp_path / "phenotypes.csv")
    assert {subject.group for subject in joined} == {"=NC"}
    table.pipe(safe_table).to_excel(tmp_path / "phenotypes.xlsx", index=False)
    assert read_phenotypes(tmp_path / "phenotypes.xlsx").table["subject"].tolist() == list(cohort.ids)


@given(WORDS | st.text("<>[]()*_`!&;#:~\\ab/ ", max_size=12) | st.sampled_from(MARKUP))
def test_captions_show_markup_as_text(text: str) -> None:
    shown = MarkdownIt().render(f"Figure of {escape_markdown(text)}, end.")
    tags = {part.split(">")[0] for part in shown.split("<")[1:]}
    assert tags == {"p", "/p"}


def test_usual_captions_stay_as_they_are() -> None:
    caption = "Hubs of sub_01: |ΔS| at γ = 0.5, r = 0.31 [0.2, 0.4], p < 0.05 & q = 0.1 (NC - ASD)."
    assert escape_markdown(caption) == caption


def test_export_of_a_hostile_cohort(rng: np.random.Generator) -> None:
    """Names of subjects and groups in the bundle's words and numbers."""
    from biobgt.export import CohortRef, FigureRequest, cohort_sha256
    from biobgt.export.bundle import _captions_text, make_files
    from biobgt.export.methods import methods_files
    from biobgt.figures.paper_style import PaperStyle

    name = "=<img src=x onerror=alert(1)>"
    subject = Subject(name, series=rng.standard_normal((80, 12)).cumsum(axis=0), group="<b>NC</b>")
    cohort = Cohort("x", (subject,), numbered_atlas(12))
    ref = CohortRef("x", sha256=cohort_sha256(cohort))
    request = FigureRequest("gamma_sweep", ref, subject=name)
    files = make_files(cohort, request, style=PaperStyle(), formats=["svg"])
    numbers = list(csv.reader(io.StringIO(files.numbers.decode())))
    assert not any(cell.startswith("=") for row in numbers for cell in row)
    assert any(cell == f"'{name}" for row in numbers for cell in row)
    methods = methods_files([files], {ref: cohort}, {"biobgt": "1", "python": "3"})
    words = _captions_text([files], ["one"], None) + methods["methods.md"].decode()
    assert "img" in words
    assert "<img" not in MarkdownIt().render(words)
    assert "<b>" not in MarkdownIt().render(words)


ROOT = Path(__file__).resolve().parents[2]
WRITERS = {"to_csv", "to_excel", "writer", "DictWriter", "savetxt"}
# The log of a training is numbers, under names of our own.
NUMBERS_ALONE = {"biobgt/training/trainer.py"}


def _calls(tree: ast.AST) -> list[tuple[str, ast.Call]]:
    """Every call of an attribute: ``frame.to_csv(…)`` as ("to_csv", the call)."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(call.func.attr, call) for call in calls if isinstance(call.func, ast.Attribute)]


def _guarded(value: ast.expr, function: ast.AST) -> bool:
    """Whether a value is ``safe_table(…)``, or a name that such a value was given in the same function."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "safe_table"
    given = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for name in node.targets
        if isinstance(value, ast.Name) and isinstance(name, ast.Name) and name.id == value.id
    ]
    return bool(given) and all(isinstance(one, ast.Call) and _guarded(one, function) for one in given)


def test_no_table_is_written_but_by_the_one_writer() -> None:
    for path in sorted([*(ROOT / "biobgt").rglob("*.py"), *(ROOT / "app").rglob("*.py")]):
        place = path.relative_to(ROOT).as_posix()
        found = [(name, call.lineno) for name, call in _calls(ast.parse(path.read_text())) if name in WRITERS]
        if place not in ("biobgt/base/files.py", *NUMBERS_ALONE):
            assert not found, f"{place} writes a table without biobgt.base.files: {found}"


def test_no_table_on_a_page_is_saved_but_safe() -> None:
    """The toolbar of a table on the screen saves it as CSV."""
    seen = 0
    for path in sorted((ROOT / "app").rglob("*.py")):
        functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            for attribute, call in _calls(function):
                if attribute in ("dataframe", "data_editor"):
                    seen += 1
                    assert _guarded(call.args[0], function), f"{path.name}:{call.lineno} shows a table as it is"
    assert seen >= 2  # one function shows all tables, and one page has a table that is edited
