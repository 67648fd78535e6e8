"""Figures of a study in requests and bundles: known by their findings, made again from the study's folder alone."""

import io
import json
import zipfile

import pytest

from biobgt.base.errors import InputError
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.bundle import make_files, write_bundle
from biobgt.figures.paper_style import PaperStyle
from tests.made_study import FOUND_EDGES, made_study

STYLE = PaperStyle(width_mm=85)


def test_a_request_survives_json_and_of_others_nothing_changed():
    ref = CohortRef("Made study", study=True, sha256="ab" * 32)
    request = FigureRequest("study_connectogram", ref, options={"drawn": "strongest"})
    assert FigureRequest.from_json(request.to_json()) == request
    assert not ref.own
    assert "study" not in json.loads(FigureRequest("roc", CohortRef("m", model=True)).to_json())["cohort"]
    with pytest.raises(InputError, match="study:FOLDER"):
        ref.draw()


def test_a_bundle_says_which_folder_its_script_needs():
    study = made_study()
    ref = CohortRef(study.cohort.name, study=True, sha256=study.sha256)
    request = FigureRequest("study_connectogram", ref)
    made = make_files(study, request, style=STYLE, formats=["svg"])
    assert made.numbers.decode().count("True") == len(FOUND_EDGES)
    stream = io.BytesIO()
    write_bundle([made], {ref: study.cohort}, stream, style=STYLE)
    with zipfile.ZipFile(stream) as bundle:
        script, methods = bundle.read("make_figures.sh").decode(), bundle.read("methods.md").decode()
        provenance = json.loads(bundle.read("provenance.json"))
        assert "Put its folder beside the script" in bundle.read("README.md").decode()
    assert "[ -e study ]" in script
    assert "biobgt figure study_connectogram study:study --request requests/01_study_connectogram.json" in script
    assert "shows the study of Made study" in methods
    assert provenance["figures"][0]["simulated"]


def test_other_findings_are_another_study():
    study = made_study()
    assert study.sha256 == made_study().sha256
    study.findings.edges.loc[0, "p"] = 0.5
    assert made_study().sha256 != type(study)(study.data, study.findings, name=study.cohort.name).sha256
