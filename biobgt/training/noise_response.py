"""What a model says of worse recordings: out of fold, each subject asked of the member that never met it.

A model that is worth believing becomes less sure with noise. One whose mean probability moves towards a group takes
noise for that group, and a reader of its card must see it. So must how many of the changed predictions carry a warning,
and how many warnings unchanged scans get; the ranges that warn are those of the fold's own training subjects.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from biobgt.cohort import Cohort, Subject
from biobgt.errors import InputError
from biobgt.kept_results import Store
from biobgt.model.batch import GraphBatch
from biobgt.model.ensemble import AT_ONCE, Ensemble, position, prepare_each
from biobgt.model.familiarity import familiarity_of
from biobgt.simulate.worse_recordings import CORRUPTIONS, NOISE_LEVELS, PURE, add_noise, corrupt
from biobgt.training.splits import Split

A_FOLD = 40  # test subjects of each fold, drawn by lot: NE and modules of each take a tenth of a second and level
A_FOLD_CORRUPTED = 20  # the first of these, for every other kind of corruption


@dataclass(frozen=True)
class Answers:
    """What was said of the same subjects in one kind of recording.

    Attributes
    ----------
    n : int
        Subjects asked about.
    refused : int
        Those of whom the model could say nothing, as their graph has no edge.
    probability, called : mapping of str to float
        Mean probability of each group, and share of subjects called so, of those who were not refused.
    warned : float
        Share of all subjects who carried a warning or were refused.
    to_patient, to_control : float
        Share whose call went from the first group to another since nothing was changed, and back.
    flips, flips_warned : int
        Subjects whose call changed in any way, and how many of them carried a warning.
    """

    n: int
    refused: int
    probability: dict[str, float | None]
    called: dict[str, float | None]
    warned: float
    to_patient: float
    to_control: float
    flips: int
    flips_warned: int


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A model's folds, and some test subjects of each.

    Attributes
    ----------
    ensemble : Ensemble
        Member i was trained without the test subjects of split i.
    cohort : Cohort
        With series.
    graphs : GraphBatch
        Of the cohort.
    splits : tuple of Split
        Those of the training, one per member.
    scans : sequence of mapping of str to float
        Of the cohort, from :func:`biobgt.model.familiarity.scan_measures`.
    seed : int
        Of the draw of subjects and of what is done to them.
    store : Store, optional
        Where NE and modules of changed subjects are kept.
    """

    ensemble: Ensemble
    cohort: Cohort
    graphs: GraphBatch
    splits: tuple[Split, ...]
    scans: Sequence[Mapping[str, float]]
    seed: int
    store: Store | None = None

    def __post_init__(self) -> None:
        have, need = len(self.ensemble.members), len(self.splits)
        if have != need:
            raise InputError(f"{need} folds need as many members, and {self.ensemble.name} has {have}.")

    def drawn(self) -> list[NDArray[np.int64]]:
        """Rows of the subjects who are asked about, fold by fold."""
        random = np.random.default_rng(self.seed)
        return [random.permutation(split.test)[:A_FOLD] for split in self.splits]

    def member(self, number: int) -> Ensemble:
        """One member alone, which warns of scans unlike those of its own fold's training and validation subjects."""
        rows = np.concatenate([self.splits[number].train, self.splits[number].validation])
        means, distances = position(self.graphs[torch.tensor(rows)], self.ensemble.members[number])
        ranges = familiarity_of([self.scans[row] for row in rows], mean_correlations=means, distances=distances)
        return replace(
            self.ensemble,
            members=(self.ensemble.members[number],),
            temperatures=(self.ensemble.temperatures[number],),
            familiarity=ranges,
            trained_on=None,
            trained_ids=frozenset(),  # everyone here was in some member's training, though not in that of this one
            simulated=False,
        )


def worse_recordings(
    held_out: HeldOut, *, progress: Callable[[int, int], None] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Ask each member about test subjects of its own fold, at every level of noise and of other corruptions.

    Parameters
    ----------
    held_out : HeldOut
    progress : callable, optional
        Told (done, total) after each kind of recording.

    Returns
    -------
    dict
        ``noise`` with the SD of each level (None is noise alone), and ``corruption`` with the kind of each, as a card
        holds them: see :class:`Answers`.
    """
    seed, subjects = held_out.seed, held_out.cohort.subjects
    members, drawn = [held_out.member(number) for number in range(len(held_out.splits))], held_out.drawn()
    kinds: list[tuple[dict[str, Any], int, Callable[[Subject], Subject | None]]] = [
        *(({"sd": None if sd == PURE else sd}, A_FOLD, _with_noise(sd, seed)) for sd in NOISE_LEVELS),
        *(({"kind": kind}, A_FOLD_CORRUPTED, _corrupted(kind, seed)) for kind in CORRUPTIONS),
    ]
    found: dict[str, list[dict[str, Any]]] = {"noise": [], "corruption": []}
    calls: NDArray[np.int64] | None = None  # of unchanged subjects, by row of the cohort
    for done, (which, n, change) in enumerate(kinds, start=1):
        probabilities = np.full((len(subjects), len(held_out.ensemble.groups)), np.nan)
        warned, asked = np.zeros((2, len(subjects)), dtype=np.bool_)
        for member, rows in zip(members, drawn, strict=True):
            changed = {row: worse for row in rows[:n].tolist() if (worse := change(subjects[row])) is not None}
            own = list(changed)
            asked[own] = True
            probabilities[own], warned[own] = _ask(member, list(changed.values()), held_out)
        if calls is None:
            calls = np.where(np.isnan(probabilities[:, 0]), -1, probabilities.argmax(axis=1))
        if asked.any():
            said = _described(probabilities[asked], warned[asked], calls[asked], held_out.ensemble.groups)
            found["noise" if "sd" in which else "corruption"].append(which | asdict(said))
        if progress is not None:
            progress(done, len(kinds))
    return found


def _with_noise(sd: float, seed: int) -> Callable[[Subject], Subject]:
    return lambda subject: add_noise(subject, sd, seed=seed)


def _corrupted(kind: str, seed: int) -> Callable[[Subject], Subject | None]:
    return lambda subject: corrupt(subject, kind, seed=seed)


def _ask(
    member: Ensemble, subjects: Sequence[Subject], held_out: HeldOut
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One member's probabilities, shape (n_subjects, n_groups), NaN where refused; and who is warned of."""
    probabilities = np.full((len(subjects), len(member.groups)), np.nan)
    warned = np.ones(len(subjects), dtype=np.bool_)
    for start in range(0, len(subjects), AT_ONCE):
        part = subjects[start : start + AT_ONCE]
        graphs, reasons = prepare_each(part, member.preset, held_out.store)
        if graphs is None:
            continue
        fit = [row for row, reason in enumerate(reasons) if not reason]
        rows = start + np.array(fit)
        probabilities[rows] = member.probabilities(graphs)
        told = member.warnings([part[row] for row in fit], graphs, held_out.cohort.atlas)
        warned[rows] = [bool(one) for one in told]
    return probabilities, warned


def _described(
    probabilities: NDArray[np.float64],
    warned: NDArray[np.bool_],
    before: NDArray[np.int64],
    groups: Sequence[str],
) -> Answers:
    known = np.isfinite(probabilities).all(axis=1) & (before >= 0)
    calls, before, n_known = probabilities[known].argmax(axis=1), before[known], int(known.sum())
    flips = calls != before
    return Answers(
        n=len(probabilities),
        refused=len(probabilities) - n_known,
        probability={
            group: round(float(probabilities[known, k].mean()), 4) if n_known else None
            for k, group in enumerate(groups)
        },
        called={group: round(float((calls == k).mean()), 4) if n_known else None for k, group in enumerate(groups)},
        warned=round(float(warned.mean()), 4),
        to_patient=round(float(((calls > 0) & (before == 0)).sum() / max(1, n_known)), 4),
        to_control=round(float(((calls == 0) & (before > 0)).sum() / max(1, n_known)), 4),
        flips=int(flips.sum()),
        flips_warned=int((flips & warned[known]).sum()),
    )
