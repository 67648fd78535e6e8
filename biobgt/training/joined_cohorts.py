"""Several cohorts that train one model: whose recordings they are, and what their groups are called together.

A group that several cohorts have carries its cohort in brackets, and so does a simulated one, for controls of one
study are not those of another. A person who stands in two cohorts, as the controls that the simulated progression is
made of do, stays one person, whom no split parts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import Cohort, join_cohorts
from biobgt.errors import InputError
from biobgt.training.cohort_stories import STORIES


@dataclass(frozen=True, eq=False)
class JoinedCohorts:
    """Cohorts on one atlas, one after the other.

    Attributes
    ----------
    whole : Cohort
        All subjects, named ``abide+cni-adhd`` after the cohorts.
    parts : tuple of Cohort
        Named by their kind; the same subjects, with the ids and groups that they have in the whole.
    """

    whole: Cohort
    parts: tuple[Cohort, ...]

    @property
    def readouts(self) -> tuple[tuple[str, ...], ...]:
        """The groups of each cohort, controls first."""
        return tuple(tuple(part.group_sizes) for part in self.parts)

    @property
    def own_ids(self) -> list[str]:
        """The ids of all subjects as their own cohorts have them, with the session that was added."""
        return [one.split("_", 1)[1] for one in self.whole.ids]

    def rows(self, number: int) -> NDArray[np.int64]:
        """Where the subjects of a cohort stand in the whole."""
        start = sum(len(part) for part in self.parts[:number])
        return np.arange(start, start + len(self.parts[number]))


def join_training_cohorts(cohorts: Sequence[Cohort]) -> JoinedCohorts:
    """Put cohorts together to train one model on all; each is named after its kind.

    Parameters
    ----------
    cohorts : sequence of Cohort
        Two or more of :func:`biobgt.training.training_cohorts.training_cohort`, each of another kind.
    """
    kinds = [cohort.name for cohort in cohorts]
    if len(kinds) < 2 or len(set(kinds)) < len(kinds):
        raise InputError(f"A model of several cohorts needs two or more different ones, not {', '.join(kinds)}.")
    times = Counter(group for cohort in cohorts for group in cohort.group_sizes)
    parts = tuple(_renamed(cohort, {group for group, n in times.items() if n > 1}) for cohort in cohorts)
    return JoinedCohorts(join_cohorts(parts, name="+".join(kinds)), parts)


def _renamed(cohort: Cohort, shared: set[str]) -> Cohort:
    """The same subjects, with ids and groups that no other cohort has."""
    story = STORIES[cohort.name]
    owners, session = (story.people, f"_ses-{cohort.name}") if story.people else (cohort.name, "")
    names = {
        group: f"{group} ({story.short})" if group in shared or cohort.simulated else group
        for group in cohort.group_sizes
    }
    subjects = (replace(one, id=f"{owners}_{one.id}{session}", group=names[str(one.group)]) for one in cohort.subjects)
    return replace(cohort, subjects=tuple(subjects))
