"""The methods section of a paper: participants, acquisition, analyses, models, figures, software, with their works.

One structure holds it, sections of paragraphs of sentences that are cut at their citations. How it becomes Markdown, a
Word document or LaTeX is the matter of the three writers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biobgt.cited_work import Reference
from biobgt.cohort import Cohort
from biobgt.export.cited_text import Sentence, ToComplete, by_short_form, cited_works, cut
from biobgt.export.methods_models import model_paragraphs
from biobgt.export.methods_people import acquisition_sentences, people_sentences
from biobgt.export.methods_subjects import named_figures, shown_sentences
from biobgt.export.own_citation import software_sentences
from biobgt.export.requests import CohortRef
from biobgt.references import Citation, bibliography, in_brackets, work

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
    known = by_short_form(["abraham2014", *of_figures, *cited, *of_software])
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
