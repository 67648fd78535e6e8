"""The methods section: who, how, with which works, whom figures show, by which models and software, in 3 formats."""

import io
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from export_requests import DEMO, SUBJECT, request_of

import biobgt
from biobgt import Cohort, Subject
from biobgt.base.references import REFERENCES
from biobgt.data.atlas import BUNDLED, load_atlas, numbered_atlas
from biobgt.data.cohort import Source
from biobgt.export import CohortRef, FigureRequest
from biobgt.export import methods as own_citation
from biobgt.export.bundle import make_files, versions
from biobgt.export.methods import (
    _acquisition_sentences,
    _methods_of,
    _model_paragraphs,
    _named_figures,
    _people_sentences,
    _shown_sentences,
    _ToComplete,
    latex,
    methods_files,
    own_work,
    software_sentences,
)
from biobgt.figures.paper_style import PaperStyle
from biobgt.model.folder import pretrained_names
from biobgt.training.cohorts import DATASETS

WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FIGURES = ("hub_curves", "gamma_sweep", "module_flow", "group_module_flow", "role_map", "modularity_against_chance")
VERSIONS = {"biobgt": biobgt.__version__, "python": "3.11", "numpy": "2"}


@pytest.fixture(scope="module")
def asked(measured):
    """Figures, their subjects, and versions of programs."""
    requests = [request_of(figure) for figure in FIGURES]
    files = [make_files(measured, request, style=PaperStyle(), formats=("svg",)) for request in requests]
    return files, {DEMO: measured.cohort}, versions(requests)


@pytest.fixture(scope="module")
def methods(asked):
    return _methods_of(*asked)


def person(name, group, **phenotypes):
    series = np.random.default_rng(len(name)).standard_normal((30, 4))
    return Subject(name, series, group=group, phenotypes=phenotypes)


@pytest.fixture
def own():
    subjects = (
        person("sub-1", "NC", age=10, sex="M", mean_fd=0.1),
        person("sub-2_ses-1", "NC", age=20, sex="F", mean_fd=0.2),
        person("sub-2_ses-2", "NC", age=20, sex="F", mean_fd=0.4),
        person("sub-3", "ASD", age=12.5, sex="1"),
        person("sub-4", "ASD", sex="female"),
    )
    return Cohort("mine", subjects, numbered_atlas(4))


def runs(methods):
    sentences = [one for _, paragraphs in methods.sections for _, some in paragraphs for one in some]
    return [run for sentence in sentences for run in sentence]


def word_paragraphs(document):
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        body = ET.fromstring(archive.read("word/document.xml"))
    return ["".join(text.text for text in one.iter(f"{WORDS}t")) for one in body.iter(f"{WORDS}p")]


def test_every_work_is_cited_where_a_decision_is_said(methods):
    plain = " ".join(run for run in runs(methods) if isinstance(run, str))
    assert re.findall(r"\([^()]*[A-Z][^()]* (?:19|20)\d\d\)", plain) == []
    assert "also rests on" not in plain
    for key in ("biobgt", "peng2025", "huang2024", "latora2001", "blondel2008", "tzourio2002", "abraham2014"):
        assert key in methods.works
    assert "consensus over each group's subjects" in plain
    assert all(sentence.strip().endswith((".", ")")) for sentence in plain.split("\n"))


def test_three_formats_say_the_same_and_repeat_to_the_byte(asked, methods):
    files = methods_files(*asked)
    assert files == methods_files(*asked)
    assert set(files) == {"methods.md", "methods.docx", "methods.tex", "references.bib"}
    markdown = re.sub(r"^(#+|-) |\*\*", "", files["methods.md"].decode(), flags=re.MULTILINE).replace("\\|", "|")
    for paragraph in word_paragraphs(files["methods.docx"]):
        assert paragraph in markdown
    tex, library = files["methods.tex"].decode(), files["references.bib"].decode()
    cited = {key for keys in re.findall(r"\\citep(?:\[.*?\]\[\])?\{(.*?)\}", tex) for key in keys.split(",")}
    assert cited == set(re.findall(r"^@\w+\{(\w+),", library, flags=re.MULTILINE)) == set(methods.works)
    assert r"$\gamma$ = 0.5/mean($\lambda$)" in tex
    assert r"\citep[AMI;][]{vinh2010}" in tex
    assert tex.isascii() or not re.search(r"[^\x00-\x7f\u00c0-\u017f]", tex)
    assert tex.count("\\begin{document}") == tex.count("\\end{document}") == 1


def test_a_sentence_of_some_figures_says_which(methods):
    about = [about for about, _ in dict(methods.sections)["Analysis"]]
    assert about[0] == ""  # graphs are behind all
    assert about[1:3] == ["Figures 1 and 2", "Figures 3 to 6"]
    assert _named_figures([1, 2, 3, 5, 7, 8]) == "Figures 1 to 3, 5, 7 and 8"


def test_participants_have_groups_age_sex_and_motion_once_per_person(own):
    opening, controls, patients, *places = _people_sentences(CohortRef("mine"), own)
    assert opening == (
        "We analysed resting-state fMRI of 5 recordings of 4 participants: 2 NC (normal controls) and 2 ASD (autism "
        "spectrum disorder)."
    )
    assert controls == (  # sub-2 moved by 0.3 mm on average
        "In the NC group, mean age was 15.0 ± 7.1 years (SD; range 10.0 to 20.0); 1 participant was female and 1 male; "
        "mean framewise displacement was 0.200 ± 0.141 mm (SD; range 0.100 to 0.300)."
    )
    assert patients == (
        "In the ASD group, mean age was 12.5 years (known of 1 of 2); 1 participant was female and 1 of sex '1'."
    )
    assert all(isinstance(place, _ToComplete) for place in places)
    assert "ethics" in places[0].what
    assert "years" in places[1].what


def test_what_the_cohort_does_not_tell_is_a_marked_place(own):
    bare = replace(own, subjects=tuple(replace(subject, phenotypes={}) for subject in own))
    assert _people_sentences(CohortRef("mine"), bare)[1].what.startswith("age; sex; motion; recruitment")
    length, place = _acquisition_sentences(own)
    assert length == "Recordings had 30 time points."
    assert "repetition time" in place.what
    timed = replace(own, subjects=tuple(replace(subject, tr=2.0 + (i > 2)) for i, subject in enumerate(own)))
    length, place = _acquisition_sentences(timed)
    assert length == "Recordings had 30 time points, recorded every 2 to 3 s."
    assert "repetition time" not in place.what
    assert "scanner" in place.what


def test_how_series_were_taken_from_images_is_told(own):
    used = {"regions": "labels of atlas.nii.gz", "confounds": "simple", "smoothing mm": 6.0, "low-pass Hz": 0.1}
    first, second, *others = own.subjects
    of_image = replace(first, source=Source("a.nii.gz", 1, "0", "nii", used))
    bare = {"regions": "spheres of 5 mm", "confounds": "none"}
    plain = replace(second, source=Source("b.nii.gz", 1, "0", "nii", bare))
    said = _acquisition_sentences(replace(own, subjects=(of_image, plain, *others)))
    extracted = "extracted with nilearn [@abraham2014], with"
    assert said[1:3] == [
        f"Region series were the mean over labels of atlas.nii.gz, {extracted} the confound strategy 'simple', "
        "smoothing of 6 mm and low-pass filter at 0.1 Hz.",
        f"Region series were the mean over spheres of 5 mm, {extracted} no confounds regressed out.",
    ]


def test_matrices_and_silent_regions_are_told(own):
    matrix = np.eye(4)
    matrix[0, 1] = matrix[1, 0] = 0.5
    brought = replace(own.subjects[0], series=None, connectivity=matrix)
    said = _acquisition_sentences(replace(own, subjects=(brought, *own.subjects[1:])))
    assert "Of 1 recording the functional connectivity matrix was given, and taken as it was." in said
    assert "In 1 recording 2 regions had no signal and no connection." in said


def test_simulated_subjects_have_no_acquisition_and_are_called_so(methods, measured):
    assert list(dict(methods.sections)) == ["Participants", "Analysis", "Figures", "Software"]
    said = " ".join(str(one) for one in _people_sentences(DEMO, measured.cohort))
    assert "6 simulated subjects of the demo cohort 'ad', drawn with seed 3" in said
    assert "results obtained with them are not evidence about people" in said


def test_figures_say_whom_they_show(measured):
    requests = [request_of("hub_curves"), request_of("group_module_flow"), request_of("role_map")]
    assert _shown_sentences(requests, {DEMO: measured.cohort}) == [
        f"Figures 1 and 3 show subject {SUBJECT} (AD, simulated).",
        "Figure 2 shows the groups NC (n = 2) and AD (n = 2).",
    ]


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("abide-cc200", "@dimartino2014; @craddock2013"),
        ("cni-adhd-cc200", "@schirmer2021"),
        ("adsim-aal90", "@dimartino2014"),
        ("five-groups-aal90/cni-adhd", "@schirmer2021"),
    ],
)
def test_training_data_of_a_model_are_named_and_cited(model, named):
    if model.partition("/")[0] not in pretrained_names():
        pytest.skip(f"the trained model {model} is not on this machine")
    told = _model_paragraphs([model])
    said = " ".join(str(sentence) for paragraph in told for sentence in paragraph)
    assert f"[{named}" in said
    assert len(told) == 1 + ("/" in model)  # a readout brings its network
    assert ("simulated" in said) == (model not in ("abide-cc200", "cni-adhd-cc200"))
    ref = CohortRef(model, model=True)
    (sentence,) = _shown_sentences([FigureRequest("roc", ref)], {ref: ref.draw()})
    assert sentence.startswith(f"Figure 1 shows results of the model {model} in held-out subjects")


def test_software_is_cited_as_its_citation_file_says(monkeypatch):
    said = software_sentences(VERSIONS)
    assert f"BioBGT Explorer, version {biobgt.__version__} [@biobgt; @peng2025]" in said[0]
    assert own_work().fields["note"].endswith(biobgt.__version__)
    assert re.fullmatch(r"20\d\d", own_work().fields["year"])
    about = {"title": "BioBGT Explorer", "version": "9", "date-released": "2030-01-01", "authors": [{"name": "We"}]}
    monkeypatch.setattr(own_citation, "_about", lambda: about)
    assert "names no address" in software_sentences(VERSIONS)[-1].what
    monkeypatch.setattr(own_citation, "_about", lambda: about | {"repository-code": "https://example.org/b"})
    said = software_sentences(VERSIONS)
    assert "[@biobgt; @peng2025], available at https://example.org/b" in said[0]
    assert not any(isinstance(one, _ToComplete) for one in said)
    assert own_work().fields["url"] == "https://example.org/b"


def test_references_are_listed_without_codes_of_bibtex():
    named = {key for story in DATASETS.values() for key in story.works}
    assert named.union(*(load_atlas(name).cites for name in BUNDLED)) <= set(REFERENCES)
    for one in (*REFERENCES.values(), own_work()):
        assert not set(one.entry) & set("\\{}")
        assert one.fields["year"] in one.entry
    assert REFERENCES["huang2024"].entry.startswith("Huang, Y., Wang, H., Ren, X.-L. and Lü, L. (2024). ")
    assert REFERENCES["guimera2004"].entry.startswith("Guimerà, R., Sales-Pardo, M. and Amaral, L. A. N. (2004)")


def test_names_of_people_and_cohorts_are_no_markup(own):
    hostile = CohortRef("a_b & 50 % \\input{x} <b>*c*")
    odd = replace(own, subjects=(replace(own.subjects[0], id="<i>$x_1$</i>\x07"),))
    request = FigureRequest("series_carpet", hostile, odd.ids[0])
    made = make_files(odd, request, style=PaperStyle(), formats=("svg",))
    files = methods_files([made], {hostile: odd}, VERSIONS)
    assert r"\textless{}i\textgreater{}\$x\_1\$" in files["methods.tex"].decode()
    assert "<i>$x_1$</i>" in " ".join(word_paragraphs(files["methods.docx"]))
    assert "\\<i>" in files["methods.md"].decode()
    assert latex("\\input{x} 5 % ~ ^ 漢") == r"\textbackslash{}input\{x\} 5 \% \textasciitilde{} \textasciicircum{} ?"


def test_a_work_that_no_sentence_names_is_still_cited(measured):
    made = make_files(measured, request_of("series_carpet"), style=PaperStyle(), formats=("svg",))
    more = replace(made, citations=(*made.citations, "meila2007"))
    text = methods_files([more], {DEMO: measured.cohort}, VERSIONS)["methods.md"].decode()
    assert "The figure also rests on work by others (Meilă 2007)." in text
