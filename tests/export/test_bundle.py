"""A bundle holds what it promises, repeats to the byte, and its script makes the same numbers again."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
from export_requests import DEMO, SUBJECT, request_of
from PIL import Image

from biobgt import ConnectomeSettings, InputError
from biobgt.export import CohortRef, FigureRequest, cohort_sha256
from biobgt.export import bundle as texts
from biobgt.export.bundle import make_files, versions, write_bundle
from biobgt.figures.paper_style import PaperStyle
from biobgt.readers.project import save_project

STYLE = PaperStyle(width_mm=85, dpi=100)
BIN = Path(sys.executable).parent


def bundle(requests, cohort, *, formats=("svg",), style=STYLE, include_data=False):
    files = [make_files(cohort, request, style=style, formats=formats) for request in requests]
    stream = io.BytesIO()
    cohorts = {request.cohort: cohort.cohort for request in requests}
    write_bundle(files, cohorts, stream, style=style, include_data=include_data)
    return stream.getvalue()


def unpack(data, folder):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return folder


def run_script(folder):
    """Run the bundle's script as a user does, with only the environment's programs and the system's on the path.

    How OpenBLAS adds up is the machine's: what is set for it holds for both sides.
    """
    env = {"PATH": f"{BIN}{os.pathsep}/usr/bin{os.pathsep}/bin", "COLUMNS": "200", "HOME": str(folder)}
    env |= {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    command = ["sh", str(folder / "make_figures.sh")]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_bundle_holds_everything_and_repeats_to_the_byte(measured, tmp_path):
    requests = [request_of("hub_curves"), request_of("gamma_sweep"), request_of("module_flow")]
    formats = ("svg", "pdf", "png", "tiff")
    data = bundle(requests, measured, formats=formats)
    assert data == bundle(requests, measured, formats=formats)
    folder = unpack(data, tmp_path)
    names = ["01_hub_curves", "02_gamma_sweep", "03_module_flow"]
    for name, request in zip(names, requests, strict=True):
        assert "<text" in (folder / "figures" / f"{name}.svg").read_text()
        assert b"/FontFile2" in (folder / "figures" / f"{name}.pdf").read_bytes()
        for suffix in ("png", "tiff"):
            with Image.open(folder / "figures" / f"{name}.{suffix}") as picture:
                assert picture.width == round(85 / 25.4 * 100)
                assert picture.info["dpi"][0] == pytest.approx(100, abs=0.1)
        assert (folder / "numbers" / f"{name}.csv").read_text().count("\n") > 2
        assert FigureRequest.from_json((folder / "requests" / f"{name}.json").read_text()) == request
    provenance = json.loads((folder / "provenance.json").read_text())
    for path, digest in provenance["sha256"].items():
        assert hashlib.sha256((folder / path).read_bytes()).hexdigest() == digest
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(provenance["sha256"]) == on_disk - {"provenance.json"}
    assert provenance["cohorts"][0]["reference"]["seed"] == 3
    assert provenance["figures"][0]["options in full"]["perturbation"] == "control"


def test_methods_name_parameters_and_every_citation_is_in_the_bibliography(measured, tmp_path):
    requests = [request_of("hub_curves", gamma=3.0), request_of("module_flow", resolution=1.3, consensus=True)]
    folder = unpack(bundle(requests, measured), tmp_path)
    methods = (folder / "methods.md").read_text()
    for said in ("γ = 3/mean(λ)", "resolution 1.3", "consensus", "of at least 0.3", "simulated", "numpy 2"):
        assert said in methods
    assert "**Figure 2.** Modules were found" in methods
    library = (folder / "references.bib").read_text()
    years = set(re.findall(r"year = \{(\d{4})\}", library))
    assert set(re.findall(r"[A-Z]\w+(?: et al\.| and \w+)? ((?:19|20)\d{2})\b", methods)) <= years
    assert library.count("@") == len(set(re.findall(r"@\w+\{(\w+),", library)))
    captions = (folder / "captions.md").read_text()
    assert "**Figure 1. Hub curves.** Simulated subject" in captions


def test_script_makes_the_same_figures_and_numbers_again(measured, tmp_path):
    settings = ConnectomeSettings("pearson", "absolute", "proportional", 0.2, True)
    requests = [replace(request_of("hub_curves"), settings=settings), request_of("module_flow")]
    folder = unpack(bundle(requests, measured), tmp_path)
    finished = run_script(folder)
    assert finished.returncode == 0, finished.stderr
    for part in ("numbers", "figures"):
        made = sorted(path.name for path in (folder / part).iterdir())
        assert made == sorted(path.name for path in (folder / "remade" / part).iterdir())
        for name in made:
            assert (folder / "remade" / part / name).read_bytes() == (folder / part / name).read_bytes()


@pytest.fixture(scope="module")
def own(measured):
    """The same subjects as somebody's own, with a name that would hurt in a shell."""
    return CohortRef("Bob's $(study); rm -rf", sha256=cohort_sha256(measured.cohort))


def test_own_data_travel_only_when_asked_and_then_the_script_runs(measured, own, tmp_path):
    request = request_of("hub_scatter", own)
    without = unpack(bundle([request], measured), tmp_path / "without")
    assert list(without.rglob("*.biobgt")) == []
    asked = run_script(without)
    assert asked.returncode == 2
    assert "subjects.biobgt" in asked.stderr
    folder = unpack(bundle([request], measured, include_data=True), tmp_path / "with")
    finished = run_script(folder)
    assert finished.returncode == 0, finished.stderr
    name = "numbers/01_hub_scatter.csv"
    assert (folder / "remade" / name).read_bytes() == (folder / name).read_bytes()


def test_script_refuses_other_subjects(measured, own, tmp_path):
    folder = unpack(bundle([request_of("hub_scatter", own)], measured), tmp_path)
    other = measured.cohort.with_groups({SUBJECT: "NC"})
    save_project(other, ConnectomeSettings(), {}, folder / "subjects.biobgt")
    refused = run_script(folder)
    assert refused.returncode == 2
    assert "not the subjects" in refused.stderr
    assert not (folder / "remade").exists()


def test_versions_name_what_only_a_model_needs_where_one_is_behind_a_figure():
    alone, of_model = request_of("hub_curves"), FigureRequest("roc", CohortRef("any", model=True))
    asked = FigureRequest("subject_probability", DEMO, SUBJECT, options={"model": "any"})
    assert {"torch", "safetensors"}.isdisjoint(versions([alone]))
    for requests in ([of_model], [alone, asked]):
        assert versions(requests)["torch"] == version("torch")
        assert versions(requests)["safetensors"] == version("safetensors")


def test_a_figure_is_simulated_by_its_subject_its_groups_or_its_model(measured, monkeypatch):
    monkeypatch.setattr(texts, "installed_model", lambda name: SimpleNamespace(simulated=name == "of nobody"))
    first, *others = measured.cohort
    mixed = replace(measured.cohort, subjects=(replace(first, simulated=False), *others))
    own = CohortRef("mine")
    of_first, of_groups = FigureRequest("hub_curves", own, first.id), FigureRequest("group_module_flow", own)
    assert not texts.is_simulated(of_first, mixed)
    assert texts.is_simulated(replace(of_first, subject=SUBJECT), mixed)
    assert texts.is_simulated(of_groups, mixed)
    for name in ("of nobody", "of people"):
        simulated = name == "of nobody"
        assert texts.is_simulated(replace(of_first, options={"model": name}), mixed) == simulated
        of_model = CohortRef(name, model=True)
        assert texts.is_simulated(FigureRequest("roc", of_model), replace(mixed, subjects=())) == simulated


def test_empty_bundle_and_no_format_end_with_a_sentence(measured):
    with pytest.raises(InputError, match="no figure to export"):
        write_bundle([], {}, io.BytesIO(), style=STYLE)
    with pytest.raises(InputError, match="No format"):
        make_files(measured, request_of("hub_curves"), style=STYLE, formats=())
    assert DEMO.draw().ids == measured.cohort.ids
