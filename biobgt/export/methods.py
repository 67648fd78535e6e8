"""The methods section of a paper: participants, acquisition, analyses, models, figures, software, with their works.

One structure holds it, sections of paragraphs of sentences that are cut at their citations. How it becomes Markdown, a
Word document or LaTeX is the matter of the three writers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biobgt.cohort import Cohort
from biobgt.export.cited_text import Sentence, ToComplete, cited_works, cut
from biobgt.export.making import options_in_full
from biobgt.export.methods_people import acquisition_sentences, people_sentences
from biobgt.export.own_citation import software_sentences
from biobgt.export.requests import CohortRef, FigureRequest
from biobgt.model.installed import InstalledModel, installed_model
from biobgt.people import counted_people
from biobgt.references import Citation, Reference, bibliography, in_brackets, work
from biobgt.training.cohort_stories import STORIES, CohortStory
from biobgt.wording import counted, listed

if TYPE_CHECKING:
    from biobgt.export.bundle import FigureFiles

METHODS, LIBRARY = "methods", "references"  # names of the files, without suffix


@dataclass(frozen=True)
class Paragraph:
    """Sentences, and what opens them in bold: the figures they are about, where they are not about all."""

    sentences: tuple[Sentence, ...]
    about: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with its paragraphs."""

    heading: str
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Methods:
    """A methods section."""

    sections: tuple[Section, ...]

    @property
    def works(self) -> dict[str, Reference]:
        """The works that the text names, by key."""
        return cited_works(
            sentence for one in self.sections for paragraph in one.paragraphs for sentence in paragraph.sentences
        )

    @property
    def bibliography(self) -> str:
        """These works as BibTeX."""
        return bibliography(self.works.values())


def methods_of(
    figures: "Sequence[FigureFiles]", cohorts: Mapping[CohortRef, Cohort], versions: Mapping[str, str]
) -> Methods:
    """Write the methods of some figures.

    Parameters
    ----------
    figures : sequence of FigureFiles
        In the order of the paper.
    cohorts : mapping of CohortRef to Cohort
        The subjects of every figure.
    versions : mapping of str to str
        Of programs, by their names.
    """
    people = {ref: cohorts[ref] for ref in dict.fromkeys(one.request.cohort for one in figures) if not ref.model}
    models = tuple(dict.fromkeys(one.request.model for one in figures if one.request.model))
    told, cited = model_paragraphs(models)
    software, of_software = software_sentences(versions)
    of_figures = [citation for one in figures for citation in one.citations]
    known = {one.short: one for one in map(work, ["abraham2014", *of_figures, *cited, *of_software])}
    sections = (
        ("Participants", [Paragraph(_cut(people_sentences(ref, one), known)) for ref, one in people.items()]),
        ("Acquisition and preprocessing", _acquisition(people, known)),
        ("Analysis", _analysis(figures, known)),
        ("Trained models", [Paragraph(_cut(sentences, known)) for sentences in told]),
        ("Figures", [Paragraph(_cut(shown_sentences([one.request for one in figures], cohorts), known))]),
        ("Software", [Paragraph(_cut(software, known))]),
    )
    return Methods(tuple(Section(heading, tuple(found)) for heading, found in sections if found))


def _cut(sentences: "Sequence[str | ToComplete]", works: Mapping[str, Reference]) -> tuple[Sentence, ...]:
    return tuple((one,) if isinstance(one, ToComplete) else cut(one, works) for one in sentences)


def _acquisition(people: Mapping[CohortRef, Cohort], works: Mapping[str, Reference]) -> list[Paragraph]:
    """What files tell of how subjects were measured; nothing where all are simulated."""
    measured = [cohort for cohort in people.values() if not all(subject.simulated for subject in cohort)]
    return [Paragraph(_cut(acquisition_sentences(cohort), works)) for cohort in measured]


def _analysis(figures: "Sequence[FigureFiles]", works: Mapping[str, Reference]) -> list[Paragraph]:
    """Every sentence once, those that are about the same figures together, in the order of the figures."""
    about: dict[str, list[int]] = {}
    for number, one in enumerate(figures, start=1):
        for sentence in (*one.methods, *_further(one.methods, one.citations)):
            about.setdefault(sentence, []).append(number)
    paragraphs: dict[tuple[int, ...], list[str]] = {}
    for sentence, numbers in about.items():
        paragraphs.setdefault(tuple(numbers), []).append(sentence)
    return [
        Paragraph(_cut(sentences, works), "" if len(numbers) == len(figures) else named_figures(numbers))
        for numbers, sentences in paragraphs.items()
    ]


def _further(sentences: Sequence[str], citations: Sequence[Citation]) -> list[str]:
    """A sentence with the works of a figure that none of its own sentences names."""
    said = " ".join(sentences)
    left = [citation for citation in citations if work(citation).short not in said]
    return [f"The figure also rests on work by others{in_brackets(left)}."] if left else []


def shown_sentences(requests: Sequence[FigureRequest], cohorts: Mapping[CohortRef, Cohort]) -> list[str]:
    """Say whom each figure shows; figures of the same people share a sentence.

    Parameters
    ----------
    requests : sequence of FigureRequest
        In the order of the paper.
    cohorts : mapping of CohortRef to Cohort
        The subjects of every figure.
    """
    several = len({one.cohort for one in requests if not one.cohort.model}) > 1
    shown: dict[str, list[int]] = {}
    for number, request in enumerate(requests, start=1):
        shown.setdefault(_whom(request, cohorts[request.cohort], several=several), []).append(number)
    return [
        f"{named_figures(numbers)} {'shows' if len(numbers) == 1 else 'show'} {whom}."
        for whom, numbers in shown.items()
    ]


def named_figures(numbers: Sequence[int]) -> str:
    """Name figures by their numbers, in order: ``Figure 2``, ``Figures 1 and 3``, ``Figures 1 to 4 and 6``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = [[f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run] for run in runs]
    return f"{'Figure' if len(numbers) == 1 else 'Figures'} {listed([one for run in named for one in run])}"


def _whom(request: FigureRequest, cohort: Cohort, *, several: bool) -> str:
    if request.cohort.model:
        return _of_model(request)
    where = f" of the cohort '{request.cohort.name}'" if several else ""
    if request.subject is None:
        groups = _groups(request, cohort.group_people)
        people = counted_people(len(set(cohort.persons)), len(cohort))
        return f"{groups or f'all {people}'}{where}"
    subject = cohort[request.subject]
    notes = [*filter(None, [subject.group]), *(["simulated"] if subject.simulated else [])]
    told = f"subject {subject.id}{f' ({listed_notes})' if (listed_notes := ', '.join(notes)) else ''}{where}"
    return f"{told} by the model {request.model}" if request.model else told


def _of_model(request: FigureRequest) -> str:
    """A figure of a model's results; how many subjects are behind it differs, and its caption says so."""
    groups = _groups(request, installed_model(request.model).card["data"]["subjects"])
    of_whom = f", namely {groups}" if groups else ""
    return f"results of the model {request.model} in held-out subjects of the cohort that it was trained on{of_whom}"


def _groups(request: FigureRequest, sizes: Mapping[str, int]) -> str:
    """The groups that a figure's options name, with their sizes; nothing where it shows all."""
    options = options_in_full(request).as_dict()
    named = [options.get(name) for name in ("first", "second")]
    named = named if any(named) else [options.get("group")]
    known = [f"{group} (n = {sizes[group]:,})" for group in named if isinstance(group, str) and group in sizes]
    return f"the group{'s' if len(known) > 1 else ''} {listed(known)}" if known else ""


def model_paragraphs(names: Sequence[str]) -> tuple[list[Sequence[str | ToComplete]], list[Citation]]:
    """Write a paragraph per model, and what these cite.

    Parameters
    ----------
    names : sequence of str
        Of installed models, or folders of one's own; a readout brings its network.
    """
    models = {one.name: one for name in names for one in _with_network(installed_model(name))}
    cited = [citation for model in models.values() for kind in _kinds(model.card) for citation in STORIES[kind].works]
    return [_model_sentences(model) for model in models.values()], cited


def _with_network(model: InstalledModel) -> list[InstalledModel]:
    """The model, after the network whose readout it is."""
    readout = model.card.get("readout")
    return [model] if readout is None else [installed_model(model.name.rpartition("/")[0]), model]


def _kinds(card: Mapping[str, Any]) -> list[str]:
    return [kind for kind in str(card["data"]["cohort"]).split("+") if kind in STORIES]


def _model_sentences(model: InstalledModel) -> list[str | ToComplete]:
    card, sizes = model.card, model.card["data"]["subjects"]
    parts = [
        f"{listed([f'{sizes[group]:,} {group}' for group in groups])} from {_named(STORIES[kind])}"
        for kind, groups in _groups_of(model).items()
        if kind in STORIES
    ]
    part = "readout of the network" if "readout" in card else "model"
    total = counted(sum(sizes.values()), "subject")
    said: list[str | ToComplete] = [
        f"The {part} {model.name} was trained on {total}: {'; '.join(parts) or listed(list(sizes))}."
    ]
    if model.simulated:
        said.append(
            "Its simulated patients are not measurements of people; what it learned from them is not evidence about "
            "people."
        )
    if any(not STORIES[kind].works for kind in _kinds(card)) or not _kinds(card):
        said.append(ToComplete(f"source, terms and citation of the data that {model.name} was trained on"))
    return said


def _groups_of(model: InstalledModel) -> Mapping[str, Sequence[str]]:
    """The groups of every cohort that a model was trained on."""
    if model.readouts:
        return model.readouts
    return {kind: tuple(model.card["data"]["subjects"]) for kind in _kinds(model.card)}


def _named(story: CohortStory) -> str:
    """A cohort within a sentence, with its works: the first letter small, unless the word is an abbreviation."""
    title = story.title
    title = title[:1].lower() + title[1:] if title.split()[0].istitle() else title
    return f"{title}{in_brackets(story.works)}"
