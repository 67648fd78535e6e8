"""The methods section of a paper: participants, acquisition, analyses, models, figures, software, with their works.

One structure holds it, sections of paragraphs of sentences that are cut at their citations. Three writers make
Markdown, LaTeX and a Word document of it, byte for byte the same every time.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from biobgt.base.files import asset, zipped
from biobgt.base.references import REFERENCES, Cited, Reference, cut, in_brackets
from biobgt.base.wording import counted, escape_markdown, listed
from biobgt.data.cohort import GROUP_TITLES, Cohort, average_by_person, counted_people, kind_of_group, people_in_order
from biobgt.export.request import CohortRef, FigureRequest
from biobgt.inference.covariates import SEXES, known_characteristics, one_value_per_person
from biobgt.model.pretrained import InstalledModel, installed_model
from biobgt.training.cohorts import DATASETS

if TYPE_CHECKING:
    from biobgt.export.bundle import FigureFiles

METHODS, LIBRARY = "methods", "references"  # names of the files, without suffix


@dataclass(frozen=True)
class _ToComplete:
    """What only the authors know: a place that every writer marks."""

    what: str

    @property
    def text(self) -> str:
        """As words, with its brackets."""
        return f"[To complete: {self.what}]"


_Run = str | Cited | _ToComplete
_Sentence = tuple[_Run, ...]
_Said = list[str | _ToComplete]


@dataclass(frozen=True)
class _Methods:
    """A methods section: headings with their paragraphs.

    A paragraph is what opens it in bold, the figures it is about, where these are not all; and its sentences.
    """

    sections: tuple[tuple[str, tuple[tuple[str, tuple[_Sentence, ...]], ...]], ...]

    @property
    def works(self) -> dict[str, Reference]:
        """The works that the text names, by key, in the order of the keys."""
        paragraphs = [sentences for _, some in self.sections for _, sentences in some]
        runs = [run for sentences in paragraphs for sentence in sentences for run in sentence]
        return dict(sorted((one.key, one) for run in runs if isinstance(run, Cited) for one in run.works))


def _methods_of(
    figures: "Sequence[FigureFiles]", cohorts: Mapping[CohortRef, Cohort], versions: Mapping[str, str]
) -> _Methods:
    """The methods of some figures, in the order of the paper."""
    people = {
        ref: cohorts[ref]
        for ref in dict.fromkeys(one.request.cohort for one in figures)
        if not (ref.model or ref.study)
    }
    measured = [cohort for cohort in people.values() if not all(subject.simulated for subject in cohort)]
    models = tuple(dict.fromkeys(one.request.model for one in figures if one.request.model))
    works = {**REFERENCES, "biobgt": own_work()}
    sections: dict[str, list[tuple[str, _Said]]] = {
        "Participants": [("", _people_sentences(ref, one)) for ref, one in people.items()],
        "Acquisition and preprocessing": [("", _acquisition_sentences(cohort)) for cohort in measured],
        "Analysis": _analysis(figures),
        "Trained models": [("", sentences) for sentences in _model_paragraphs(models)],
        "Figures": [("", _shown_sentences([one.request for one in figures], cohorts))],
        "Software": [("", software_sentences(versions))],
    }

    def cut_all(sentences: _Said) -> tuple[_Sentence, ...]:
        return tuple((one,) if isinstance(one, _ToComplete) else cut(one, works) for one in sentences)

    return _Methods(
        tuple(
            (heading, tuple((about, cut_all(sentences)) for about, sentences in paragraphs))
            for heading, paragraphs in sections.items()
            if paragraphs
        )
    )


# What methods say of participants: how many in which group, their age, sex and motion, and how they were measured.
#
# Only what the cohort itself tells is written. What it does not tell, and what nobody but the authors knows, is a
# marked place.


_TOLD = {"age": "age", "sex": "sex", "mean_fd": "motion"}  # of every group, where known
_ESTIMATE = "nuisance regression, filtering and scrubbing"
# What only the authors know of how connectivity came about, by its kind.
_STILL_TO_SAY = {
    "estimated": _ESTIMATE,
    "functional": f"{_ESTIMATE}; how connectivity was estimated",
    "structural": "fibre model, tractography, and what the weights of connections are",
    "other": "what the weights of connections are",
}
_NOT_EVIDENCE = (
    "Simulated subjects are not measurements of people; results obtained with them are not evidence about people."
)


def _people_sentences(ref: CohortRef, cohort: Cohort) -> _Said:
    """Say who was analysed."""
    n_people, sizes = len(set(cohort.persons)), cohort.group_people
    named = []
    for group, size in sizes.items():
        title = GROUP_TITLES.get(kind_of_group(group))
        named.append(f"{size:,} {group}" + (f" ({title})" if title else ""))
    if 0 < (without := n_people - sum(sizes.values())) < n_people:
        named.append(f"{without:,} in no group")
    told = counted(n_people, "simulated subject" if ref.demo else "participant")
    told = told if n_people == len(cohort) else f"{len(cohort):,} recordings of {told}"
    if ref.demo:
        said: _Said = [
            f"We analysed {told} of the demo cohort '{ref.name}', drawn with seed {ref.seed}: {listed(named)}."
        ]
    else:
        kinds = dict.fromkeys(cohort.kind_of(subject).data for subject in cohort)
        said = [f"We analysed {listed(list(kinds))} of {told}{f': {listed(named)}' if named else ''}."]
    simulated = sum(subject.simulated for subject in cohort)
    if simulated:
        some = "" if ref.demo else f"{'All' if simulated == len(cohort) else simulated} of them are simulated. "
        said.append(f"{some}{_NOT_EVIDENCE}")
    known, missing = _characteristics(cohort)
    said += known
    if simulated < len(cohort):
        wanted = ["recruitment", "inclusion and exclusion criteria", "diagnosis", "ethics approval and consent"]
        said.append(_ToComplete("; ".join([*(_TOLD[name] for name in missing), *wanted])))
        if len(missing) < len(_TOLD):
            said.append(_ToComplete("check that the table's ages are in years and its displacements in millimetres"))
    return said


def _characteristics(cohort: Cohort) -> tuple[list[str], list[str]]:
    """A sentence per group on age, sex and motion, one value per person; and what is known of nobody."""
    table, _ = one_value_per_person(known_characteristics(cohort.table()), cohort.persons)
    people, first = people_in_order(cohort.persons)
    groups = pd.Series([subject.group for subject in cohort], dtype=object)[first].to_numpy()
    values = pd.DataFrame(index=range(len(people)))
    for name in (name for name in _TOLD if name in table):
        column = table[name]
        numeric = pd.api.types.is_numeric_dtype(column)
        values[name] = average_by_person(column, cohort.persons) if numeric else column.to_numpy(dtype=object)[first]
    said = []
    for group in cohort.group_people or {"": len(people)}:
        own = values[groups == group] if group else values
        told = [words for name in values if (words := _told(str(name), own[name]))]
        if told:
            said.append(f"{f'In the {group} group' if group else 'In all'}, {'; '.join(told)}.")
    if "site" in table and (n_sites := table["site"].nunique()) > 1:
        said.append(f"Recordings came from {n_sites} sites.")
    return said, [name for name in _TOLD if name not in table]


def _told(name: str, column: "pd.Series") -> str:
    """One characteristic of one group; nothing where nobody's is known."""
    known = column.dropna()
    if known.empty:
        return ""
    of_all = "" if len(known) == len(column) else f" (known of {len(known):,} of {len(column):,})"
    if not pd.api.types.is_numeric_dtype(known):
        counts = Counter(SEXES.get(str(value).strip().lower(), f"of sex '{value}'") for value in known)
        (sex, size), *others = sorted(counts.items())
        first = f"{counted(size, 'participant')} {'was' if size == 1 else 'were'} {sex}"
        return f"{listed([first, *(f'{n:,} {other}' for other, n in others)])}{of_all}"
    numbers = known.to_numpy(dtype=np.float64)
    digits, title, unit = (1, "mean age", "years") if name == "age" else (3, "mean framewise displacement", "mm")
    mean = f"{title} was {numbers.mean():.{digits}f}"
    if len(numbers) == 1:
        return f"{mean} {unit}{of_all}"
    limits = f"range {numbers.min():.{digits}f} to {numbers.max():.{digits}f}"
    return f"{mean} ± {numbers.std(ddof=1):.{digits}f} {unit} (SD; {limits}){of_all}"


def _acquisition_sentences(cohort: Cohort) -> _Said:
    """Say what the files tell of how participants were measured, and mark what they do not."""
    lengths = [subject.n_timepoints for subject in cohort if subject.n_timepoints is not None]
    said: _Said = []
    if lengths:
        trs = [subject.tr for subject in cohort if subject.series is not None and subject.tr is not None]
        every = f", recorded every {_range(trs)} s" if len(trs) == len(lengths) else ""
        said.append(f"Recordings had {_range(lengths)} time points{every}.")
    if n_matrices := len(cohort) - len(lengths):
        matrix = f"{'' if cohort.given == 'other' else f'{cohort.given} '}connectivity matrix"
        said.append(f"Of {counted(n_matrices, 'recording')} the {matrix} was given, and taken as it was.")
    said += _extractions(cohort)
    silent = [n for subject in cohort if (n := len(subject.silent_regions))]
    if silent:
        regions = "1 region" if max(silent) == 1 else f"{_range(silent)} regions"
        none = "no signal and no connection" if lengths else "no connection"
        said.append(f"In {counted(len(silent), 'recording')} {regions} had {none}.")
    left = ["scanner and field strength", "sequence and voxel size"]
    if cohort.kind.functional:
        left += ["instructions (eyes open or closed)"]
        left += [] if lengths and len(trs) == len(lengths) else ["repetition time"]
    left += ["preprocessing with its software and version", _STILL_TO_SAY[cohort.kind.key]]
    return [*said, _ToComplete("; ".join(left))]


def _extractions(cohort: Cohort) -> list[str]:
    """How series were taken from images, where this software did it."""
    said: dict[str, None] = {}
    for subject in cohort:
        used = {} if subject.source is None else subject.source.options
        if "confounds" not in used:
            continue
        strategy = used["confounds"]
        steps = ["no confounds regressed out" if strategy == "none" else f"the confound strategy '{strategy}'"]
        units = (("smoothing mm", "smoothing of {:g} mm"), ("low-pass Hz", "low-pass filter at {:g} Hz"))
        for name, words in (*units, ("high-pass Hz", "high-pass filter at {:g} Hz")):
            steps += [words.format(float(used[name]))] if name in used else []
        taken = f"the mean over {used['regions']}" if "regions" in used else "the mean over regions"
        said[f"Region series were {taken}, extracted with nilearn [@abraham2014], with {listed(steps)}."] = None
    return list(said)


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


# What was analysed, whom figures show, and which models are behind them.


def _analysis(figures: "Sequence[FigureFiles]") -> list[tuple[str, _Said]]:
    """Every sentence once, those that are about the same figures together, in the order of the figures."""
    about: dict[str, list[int]] = {}
    for number, one in enumerate(figures, start=1):
        runs = [run for sentence in one.methods for run in cut(sentence)]
        said = {work.key for run in runs if isinstance(run, Cited) for work in run.works}
        left = [key for key in one.citations if key not in said]
        further = [f"The figure also rests on work by others{in_brackets(left)}."] if left else []
        for sentence in (*one.methods, *further):
            about.setdefault(sentence, []).append(number)
    paragraphs: dict[tuple[int, ...], _Said] = {}
    for sentence, numbers in about.items():
        paragraphs.setdefault(tuple(numbers), []).append(sentence)
    everything = tuple(range(1, len(figures) + 1))
    return [
        ("" if numbers == everything else _named_figures(numbers), sentences)
        for numbers, sentences in paragraphs.items()
    ]


def _shown_sentences(requests: Sequence[FigureRequest], cohorts: Mapping[CohortRef, Cohort]) -> _Said:
    """Say whom each figure shows; figures of the same people share a sentence."""
    several = len({one.cohort for one in requests if not one.cohort.model}) > 1
    shown: dict[str, list[int]] = {}
    for number, request in enumerate(requests, start=1):
        shown.setdefault(_whom(request, cohorts[request.cohort], several=several), []).append(number)
    return [
        f"{_named_figures(numbers)} {'shows' if len(numbers) == 1 else 'show'} {whom}."
        for whom, numbers in shown.items()
    ]


def _whom(request: FigureRequest, cohort: Cohort, *, several: bool) -> str:
    if request.cohort.model:  # how many subjects are behind such a figure differs, and its caption says so
        groups = _groups(request, installed_model(request.model).card["data"]["subjects"])
        told = f"results of the model {request.model} in held-out subjects of the cohort that it was trained on"
        return f"{told}, namely {groups}" if groups else told
    if request.cohort.study:
        return f"the study of {request.cohort.name}"
    where = f" of the cohort '{request.cohort.name}'" if several else ""
    if request.subject is None:
        people = counted_people(len(set(cohort.persons)), len(cohort))
        return f"{_groups(request, cohort.group_people) or f'all {people}'}{where}"
    subject = cohort[request.subject]
    notes = ", ".join([*filter(None, [subject.group]), *(["simulated"] if subject.simulated else [])])
    told = f"subject {subject.id}{f' ({notes})' if notes else ''}{where}"
    return f"{told} by the model {request.model}" if request.model else told


def _groups(request: FigureRequest, sizes: Mapping[str, int]) -> str:
    """The groups that a figure's options name, with their sizes; nothing where it shows all."""
    options = request.full_options().as_dict()
    named = [options.get(name) for name in ("first", "second")]
    named = named if any(named) else [options.get("group")]
    known = [f"{group} (n = {sizes[group]:,})" for group in named if isinstance(group, str) and group in sizes]
    return f"the group{'s' if len(known) > 1 else ''} {listed(known)}" if known else ""


def _named_figures(numbers: Sequence[int]) -> str:
    """Name figures by their numbers, in order: ``Figure 2``, ``Figures 1 and 3``, ``Figures 1 to 4 and 6``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = [[f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run] for run in runs]
    return f"{'Figure' if len(numbers) == 1 else 'Figures'} {listed([one for run in named for one in run])}"


def _model_paragraphs(names: Sequence[str]) -> list[_Said]:
    """Write a paragraph per installed model, or folder of one's own; a readout brings its network."""
    models: dict[str, InstalledModel] = {}
    for model in map(installed_model, names):
        if "readout" in model.card:
            network = installed_model(model.name.rpartition("/")[0])
            models[network.name] = network
        models[model.name] = model
    return [_model_sentences(model) for model in models.values()]


def _model_sentences(model: InstalledModel) -> _Said:
    sizes = model.card["data"]["subjects"]
    kinds = [kind for kind in str(model.card["data"]["cohort"]).split("+") if kind in DATASETS]
    parts = []
    for kind, groups in (model.readouts or {kind: tuple(sizes) for kind in kinds}).items():
        if kind in DATASETS:
            title = DATASETS[kind].title  # within a sentence: its first letter small, unless it is an abbreviation
            title = title[:1].lower() + title[1:] if title.split()[0].istitle() else title
            whom = listed([f"{sizes[group]:,} {group}" for group in groups])
            parts.append(f"{whom} from {title}{in_brackets(DATASETS[kind].works)}")
    part = "readout of the network" if "readout" in model.card else "model"
    total = counted(sum(sizes.values()), "subject")
    said: _Said = [f"The {part} {model.name} was trained on {total}: {'; '.join(parts) or listed(list(sizes))}."]
    if model.simulated:
        said.append(
            "Its simulated patients are not measurements of people; what it learned from them is not evidence about "
            "people."
        )
    if not kinds or any(not DATASETS[kind].works for kind in kinds):
        said.append(_ToComplete(f"source, terms and citation of the data that {model.name} was trained on"))
    return said


# How this software is cited: what ``CITATION.cff`` says, so that an address stands in methods once it stands there.


_CITATION_FILE = "CITATION.cff"
_ADDRESSES = ("doi", "repository-code", "url")  # in order of preference


def software_sentences(versions: Mapping[str, str]) -> _Said:
    """Say with what numbers and figures were made; ``versions`` are those of programs, by their names."""
    about = _about()
    others = ", ".join(f"{name} {number}" for name, number in versions.items() if name not in ("biobgt", "python"))
    found = next((str(about[name]) for name in _ADDRESSES if name in about), "")
    made = (
        f"Numbers and figures were made with {about['title']}, version {versions['biobgt']} [@biobgt; @peng2025]"
        f"{f', available at {found}' if found else ''}, on Python {versions['python']} with {others}."
    )
    missing = _ToComplete(f"where readers can obtain {about['title']}; {_CITATION_FILE} names no address")
    drawn = "Figures were drawn with matplotlib [@hunter2007]."
    return [made, drawn, *([] if found else [missing])]


def own_work() -> Reference:
    """BioBGT Explorer as a work to cite, with its version, its year and, where it has one, its address."""
    about = _about()
    author, year = " and ".join(one["name"] for one in about["authors"]), str(about["date-released"])[:4]
    fields = {
        "author": f"{{{author}}}",
        "title": f"{{{about['title']}}}",
        "year": year,
        "note": f"Computer software, version {about['version']}",
    }
    for name, field in (("doi", "doi"), ("url", "url"), ("repository-code", "url")):
        if name in about:
            fields[field] = str(about[name])
    return Reference("biobgt", "misc", fields)


@cache
def _about() -> Mapping[str, Any]:
    import yaml  # methods alone need it

    installed = asset(_CITATION_FILE)
    path = installed if installed.is_file() else asset().parent / _CITATION_FILE
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


# The section as files: Markdown first.


def methods_files(
    figures: "Sequence[FigureFiles]",
    cohorts: Mapping[CohortRef, Cohort],
    versions: Mapping[str, str],
    *,
    name: str = METHODS,
    library: str = LIBRARY,
) -> dict[str, bytes]:
    """The methods section of some figures as Markdown, Word and LaTeX with its BibTeX, by the names of the files.

    Parameters
    ----------
    figures : sequence of FigureFiles
        In the order of the paper.
    cohorts : mapping of CohortRef to Cohort
        The subjects of every figure.
    versions : mapping of str to str
        Of programs, by their names.
    name, library : str
        Of the text and of the BibTeX file, without suffix.
    """
    methods = _methods_of(figures, cohorts, versions)
    return {
        f"{name}.md": _markdown(methods).encode(),
        f"{name}.docx": _word(methods),
        f"{name}.tex": _latex(methods, library).encode(),
        f"{library}.bib": "\n".join(methods.works[key].bibtex() for key in sorted(methods.works)).encode(),
    }


def _markdown(methods: _Methods) -> str:
    lines = ["# Methods", ""]
    for heading, paragraphs in methods.sections:
        lines += [f"## {heading}", ""]
        for about, sentences in paragraphs:
            said = [f"**{about}.**"] if about else []
            for sentence in sentences:
                text = escape_markdown("".join(run if isinstance(run, str) else run.text for run in sentence))
                said.append(f"**{text}**" if len(sentence) == 1 and isinstance(sentence[0], _ToComplete) else text)
            lines += [" ".join(said), ""]
    lines += ["## References", ""]
    lines += [f"- {escape_markdown(work.entry)}" for work in methods.works.values()]
    return "\n".join(lines) + f"\n\nThe same works are in {LIBRARY}.bib.\n"


# A methods section as LaTeX, with natbib's citations of the bundle's BibTeX file.
#
# It is a whole document that pdfLaTeX and its kin typeset; what stands between the beginning of the document and the
# bibliography is for a manuscript to take over.


_HEAD = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[round,semicolon]{natbib}
\begin{document}
"""
_TEXT = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar"}
_GREEK = {"Σ": "Sigma", "Δ": "Delta", "α": "alpha", "β": "beta", "γ": "gamma", "λ": "lambda", "ρ": "rho"}
_GREEK |= {"σ": "sigma", "τ": "tau", "ψ": "psi", "ω": "omega"}
_SIGNS = {"×": "times", "±": "pm", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx", "·": "cdot", "√": "surd"}
_SPECIAL = {letter: rf"\{letter}" for letter in "&%$#_{}"}
_SPECIAL |= {letter: rf"\text{name}{{}}" for letter, name in _TEXT.items()}
_SPECIAL |= {sign: rf"$\{name}$" for sign, name in (_GREEK | _SIGNS).items()}
_SPECIAL |= {"–": "--", "−": "$-$", "∞": r"$\infty$", "²": "$^2$"}
# What T1 and UTF-8 input cannot typeset: letters beyond Latin, and signs that have no entry above.
_UNKNOWN = re.compile(r"[^\x00-\x7f\u00a0-\u017f\u2018-\u201d]")


def _latex(methods: _Methods, library: str) -> str:
    lines = [_HEAD + r"\section*{Methods}"]
    for heading, paragraphs in methods.sections:
        lines.append(f"\\subsection*{{{latex(heading)}}}")
        for about, sentences in paragraphs:
            opening = [rf"\textbf{{{latex(about)}.}}"] if about else []
            lines.append("\n".join([*opening, *("".join(map(_latex_run, sentence)) for sentence in sentences)]) + "\n")
    lines += [r"\bibliographystyle{plainnat}", f"\\bibliography{{{library}}}", r"\end{document}"]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    r"""Escape what LaTeX would take for commands, and write signs that its fonts lack as mathematics.

    >>> print(latex("γ = 0.5, 10 % of sub_01"))
    $\gamma$ = 0.5, 10 \% of sub\_01
    """
    written = "".join(_SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
    return _UNKNOWN.sub("?", written)


def _latex_run(run: _Run) -> str:
    if isinstance(run, _ToComplete):
        return rf"\textbf{{{latex(run.text)}}}"
    if isinstance(run, Cited):
        before = f"{latex(run.before)};" if run.before else ""
        beside = f"[{before}][{latex(run.behind)}]" if run.before or run.behind else ""  # natbib sets a comma between
        return rf"\citep{beside}{{{','.join(one.key for one in run.works)}}}"
    opened, closed = run[: len(run) - len(run.lstrip())], run[len(run.rstrip()) :]  # latex() takes outer blanks away
    return f"{' ' if opened else ''}{latex(run)}{' ' if closed else ''}"


# A methods section as a Word document (Office Open XML, ISO/IEC 29500), byte for byte the same every time.
#
# A ``.docx`` is a zip of XML. This one holds headings, paragraphs, bold and highlighted runs, and no more, so that no
# library is needed for it.


_HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = (
    f'{_HEADER}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
    '<Override PartName="/word/styles.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/></Types>'
)
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def _word(methods: _Methods) -> bytes:
    body = [_block("Heading1", [_word_run("Methods")])]
    for heading, paragraphs in methods.sections:
        body.append(_block("Heading2", [_word_run(heading)]))
        body += [_word_paragraph(about, sentences) for about, sentences in paragraphs]
    body.append(_block("Heading2", [_word_run("References")]))
    body += [_block("Bibliography", [_word_run(one.entry)]) for one in methods.works.values()]
    document = f'{_HEADER}<w:document xmlns:w="{_WORDS}"><w:body>{"".join(body)}<w:sectPr/></w:body></w:document>'
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _related("officeDocument", "word/document.xml"),
        "word/document.xml": document,
        "word/_rels/document.xml.rels": _related("styles", "styles.xml"),
        "word/styles.xml": _styles(),
    }
    return zipped({name: text.encode() for name, text in parts.items()})


def _word_paragraph(about: str, sentences: Iterable[_Sentence]) -> str:
    runs = [_word_run(f"{about}. ", bold=True)] if about else []
    for number, sentence in enumerate(sentences):
        runs += [_word_run(" ")] if number else []
        for run in sentence:
            to_complete = isinstance(run, _ToComplete)
            runs.append(_word_run(run if isinstance(run, str) else run.text, bold=to_complete, marked=to_complete))
    return _block("Normal", runs)


def _word_run(text: str, *, bold: bool = False, marked: bool = False) -> str:
    look = ("<w:b/>" if bold else "") + ('<w:highlight w:val="yellow"/>' if marked else "")
    clean = "".join(letter for letter in text if letter.isprintable())  # XML has no control characters
    set_as = f"<w:rPr>{look}</w:rPr>" if look else ""
    return f'<w:r>{set_as}<w:t xml:space="preserve">{escape(clean)}</w:t></w:r>'


def _block(style: str, runs: Iterable[str]) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{"".join(runs)}</w:p>'


def _related(kind: str, target: str) -> str:
    relation = f'<Relationship Id="rId1" Type="{_RELATION}/{kind}" Target="{target}"/>'
    return f'{_HEADER}<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>'


def _styles() -> str:
    def style(key: str, name: str, paragraph: str, run: str, *, default: bool = False) -> str:
        based = ' w:default="1"' if default else ""
        base = "" if default else '<w:basedOn w:val="Normal"/>'
        return (
            f'<w:style w:type="paragraph"{based} w:styleId="{key}"><w:name w:val="{name}"/>{base}'
            f"<w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
        )

    spaced = '<w:spacing w:after="160" w:line="276" w:lineRule="auto"/>'
    level = '<w:keepNext/><w:spacing w:before="240" w:after="80"/><w:outlineLvl w:val="{}"/>'
    styles = [
        style("Normal", "Normal", spaced, '<w:sz w:val="22"/>', default=True),
        style("Heading1", "heading 1", level.format(0), '<w:b/><w:sz w:val="32"/>'),
        style("Heading2", "heading 2", level.format(1), '<w:b/><w:sz w:val="26"/>'),
        style("Bibliography", "Bibliography", '<w:ind w:left="360" w:hanging="360"/>', ""),
    ]
    return f'{_HEADER}<w:styles xmlns:w="{_WORDS}">{"".join(styles)}</w:styles>'
