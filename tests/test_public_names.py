"""What ``import biobgt`` offers, and that nothing of it is loaded before it is asked for."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import biobgt

PACKAGES = ["biobgt", *(f"biobgt.{path.parent.name}" for path in Path(biobgt.__file__).parent.glob("*/__init__.pyi"))]
OFFERED = [(package, name) for package in PACKAGES for name in import_module(package).__all__]


def run(script: str) -> None:
    """Run in a process of its own, which has imported nothing yet."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("package", "name"), OFFERED, ids=[".".join(one) for one in OFFERED])
def test_every_name_is_there(package: str, name: str) -> None:
    assert getattr(import_module(package), name) is not None
    assert name in dir(import_module(package))


@pytest.mark.parametrize("package", PACKAGES)
def test_other_names_are_not(package: str) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = import_module(package).nothing


def test_packages_work_after_one_import() -> None:
    run("""
import biobgt
assert callable(biobgt.hubs.hub_table) and callable(biobgt.modules.louvain_modules)
assert callable(biobgt.readers.project.open_project) and callable(biobgt.model.load_pretrained)
assert callable(biobgt.training.BioBGTClassifier)
""")


def test_what_the_reference_describes_works_after_one_import() -> None:
    pages = (Path(biobgt.__file__).parents[1] / "docs" / "reference").glob("*.md")
    described = sorted({name for page in pages for name in re.findall(r"^::: (\S+)", page.read_text("utf-8"), re.M)})
    assert "biobgt.results.measured" in described
    run("\n".join(["import biobgt", *described]))


HEAVY = {"scipy", "sklearn", "torch", "nilearn", "matplotlib", "plotly", "streamlit"}
COMMANDS = ("info", "predict", "attention", "figure", "train", "evaluate")


def test_importing_a_package_loads_no_library() -> None:
    run(f"import sys, {', '.join(PACKAGES)}\nassert not {HEAVY | {'numpy', 'pandas'}} & set(sys.modules)")


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        *((words, HEAVY | {"numpy", "pandas"}) for words in (["--help"], ["--version"])),
        *(([command, "--help"], HEAVY) for command in COMMANDS),
    ],
)
def test_help_loads_no_library(words: list[str], heavy: set[str]) -> None:
    run(f"""
import sys
from biobgt.cli import main
sys.argv = ["biobgt", *{words}]
try:
    main()
except SystemExit as end:
    assert not end.code
loaded = {heavy} & set(sys.modules)
assert not loaded, loaded
""")


def test_names_of_measures_cost_no_statistics() -> None:
    run("""
import sys
from biobgt.hubs.measures import PERTURBATIONS
assert PERTURBATIONS and "scipy.stats" not in sys.modules and "pandas" not in sys.modules
""")


def test_type_checkers_are_told_that_there_are_types() -> None:
    assert (Path(biobgt.__file__).parent / "py.typed").is_file()
