"""What a model says when noise is added: out of fold, each subject asked of the member that never met it.

A model that is worth believing becomes less sure with noise. One whose mean probability moves towards a group takes
noise for that group, and a reader of its card must see it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import Cohort, Subject
from biobgt.errors import InputError
from biobgt.kept_results import Store
from biobgt.model.ensemble import AT_ONCE, Ensemble, prepare_each
from biobgt.simulate.added_noise import NOISE_LEVELS, PURE, add_noise
from biobgt.training.splits import Split

A_FOLD = 40  # test subjects of each fold, drawn by lot: NE and modules of each take a tenth of a second and level


@dataclass(frozen=True)
class NoiseAnswers:
    """What was said of the same subjects at one level of noise.

    Attributes
    ----------
    sd : float or None
        Of the noise, in units of each region's own; None is nothing but noise.
    n : int
        Subjects asked about.
    refused : int
        Those of whom the model could say nothing, as their graph has no edge.
    probability, called : mapping of str to float
        Mean probability of each group, and share of subjects called so, of those who were not refused.
    warned : float
        Share of all subjects who carried a warning or were refused.
    to_patient, to_control : float
        Share whose call went from the first group to another since no noise was added, and back.
    """

    sd: float | None
    n: int
    refused: int
    probability: dict[str, float | None]
    called: dict[str, float | None]
    warned: float
    to_patient: float
    to_control: float


def noise_response(
    ensemble: Ensemble,
    cohort: Cohort,
    splits: Sequence[Split],
    *,
    levels: Sequence[float] = NOISE_LEVELS,
    seed: int = 0,
    store: Store | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NoiseAnswers, ...]:
    """Ask each member about test subjects of its own fold, at every level of noise.

    Parameters
    ----------
    ensemble : Ensemble
        Member i was trained without the test subjects of split i.
    cohort : Cohort
        With series.
    splits : sequence of Split
        Those of the training, one per member.
    levels : sequence of float
        The first is no noise.
    seed : int
        Of the draw of subjects and of the noise.
    store : Store, optional
        Where NE and modules of noisy subjects are kept.
    progress : callable, optional
        Told (done, total) as subjects are asked about.
    """
    if len(ensemble.members) != len(splits):
        raise InputError(f"{len(splits)} folds need as many members, and {ensemble.name} has {len(ensemble.members)}.")
    random = np.random.default_rng(seed)
    asked = [random.permutation(split.test)[:A_FOLD] for split in splits]
    # Everyone here was in some member's training, though not in that of the one that is asked.
    plain = replace(ensemble, trained_on=None, simulated=False)
    found: list[NoiseAnswers] = []
    quiet = None
    for done, sd in enumerate(levels):
        answers = [
            _ask(plain, number, [add_noise(cohort.subjects[row], sd, seed=seed) for row in rows], cohort, store)
            for number, rows in enumerate(asked)
        ]
        probabilities = np.concatenate([one[0] for one in answers])
        warned = np.concatenate([one[1] for one in answers])
        quiet = probabilities if quiet is None else quiet
        found.append(_described(sd, probabilities, warned, quiet, ensemble.groups))
        if progress is not None:
            progress(done + 1, len(levels))
    return tuple(found)


def _ask(
    ensemble: Ensemble, number: int, subjects: Sequence[Subject], cohort: Cohort, store: Store | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One member's probabilities, shape (n_subjects, n_groups), NaN where refused; and who is warned of."""
    alone = replace(ensemble, members=(ensemble.members[number],), temperatures=(ensemble.temperatures[number],))
    probabilities = np.full((len(subjects), len(ensemble.groups)), np.nan)
    warned = np.ones(len(subjects), dtype=np.bool_)
    for start in range(0, len(subjects), AT_ONCE):
        part = subjects[start : start + AT_ONCE]
        graphs, reasons = prepare_each(part, ensemble.preset, store)
        if graphs is None:
            continue
        fit = [row for row, reason in enumerate(reasons) if not reason]
        rows = start + np.array(fit)
        probabilities[rows] = alone.probabilities(graphs)
        # Ranges of distance are the first member's.
        told = ensemble.warnings([part[row] for row in fit], graphs, cohort.atlas)
        warned[rows] = [bool(one) for one in told]
    return probabilities, warned


def _described(
    sd: float,
    probabilities: NDArray[np.float64],
    warned: NDArray[np.bool_],
    quiet: NDArray[np.float64],
    groups: Sequence[str],
) -> NoiseAnswers:
    known = np.isfinite(probabilities).all(axis=1)
    calls, before = probabilities[known].argmax(axis=1), quiet[known].argmax(axis=1)
    n_known = int(known.sum())
    return NoiseAnswers(
        sd=None if sd == PURE else sd,
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
    )
