"""What methods say of figures: whom each shows."""

from collections.abc import Mapping, Sequence

from biobgt.cohort import Cohort
from biobgt.export.making import options_in_full
from biobgt.export.requests import CohortRef, FigureRequest
from biobgt.model.installed import installed_model
from biobgt.people import counted_people
from biobgt.wording import listed


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
