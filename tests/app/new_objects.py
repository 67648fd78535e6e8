"""What the tests of new objects share: commands run in this process, and what bundles and folders of figures say."""

import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from page_contents import as_shown

from biobgt.cli import main
from biobgt.data.cohort import Cohort
from biobgt.export import FigureRequest
from biobgt.export.bundle import make_files, write_bundle
from biobgt.figures.paper_style import PaperStyle


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    """Run a command, which must end well."""
    monkeypatch.setattr(sys, "argv", ["biobgt", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None)


def bundle_of(requests: Sequence[FigureRequest], cohort: Cohort) -> zipfile.ZipFile:
    """The bundle of some figures of one cohort."""
    stream = io.BytesIO()
    files = [make_files(cohort, request, style=PaperStyle(), formats=["svg"]) for request in requests]
    write_bundle(files, {request.cohort: cohort for request in requests}, stream, style=PaperStyle())
    return zipfile.ZipFile(stream)


def captions_of(archive: zipfile.ZipFile) -> str:
    """The captions of a bundle, without the marks of Markdown inside sentences."""
    return as_shown(archive.read("captions.md").decode())


def numbers_of(archive: zipfile.ZipFile, name: str) -> pd.DataFrame:
    """The numbers behind a figure of a bundle."""
    return pd.read_csv(io.BytesIO(archive.read(f"numbers/{name}.csv")))


def methods_written(folder: Path, name: str) -> tuple[str, str]:
    """The methods and the references that ``biobgt figure`` wrote."""
    methods = folder / "methods"
    return (methods / f"{name}.md").read_text(encoding="utf-8"), (methods / f"{name}.bib").read_text(encoding="utf-8")
