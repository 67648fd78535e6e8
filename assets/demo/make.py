"""Estimate the group-level parameters of the demo cohorts on the real ones.

    python assets/demo/make.py --data DIR

DIR holds ``abide_cc200.npz``, ``abide_aal116.npz``, ``cni2019_cc200.npz`` (``series``: subjects one after
another, time × region; ``n_timepoints``: per subject) and the phenotype tables, whose row i is subject i.
Only averages and components over all subjects are written, after a check that no component is one person.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from biobgt.data.connectivity import fisher_z, functional_connectivity
from biobgt.data.simulate import GroupParameters, draw_series

N_COMPONENTS = 16
N_FREQUENCIES = 65
# A component that one subject makes up to more than this share could give that subject away.
LARGEST_SUBJECT_SHARE = 0.10
CANDIDATE_DOF = (40, 50, 60, 80, 100, 130)
N_CALIBRATION = 200


@dataclass(frozen=True)
class RealCohort:
    """Where a cohort's series are, and which of them count.

    ``spectrum_site`` is the site whose spectrum stands for all: sites differ in TR, and a mean over them
    would smear the band edges. NYU is ABIDE's largest, with a TR of 2 s.
    """

    series: str
    phenotypes: str
    groups: tuple[str, ...]
    n_regions: int
    tr: float
    spectrum_site: str | None = None


COHORTS = {
    "asd": RealCohort("abide_cc200.npz", "abide_phenotypes.csv", ("NC", "ASD"), 200, 2.0, "NYU"),
    "adhd": RealCohort("cni2019_cc200.npz", "cni2019_phenotypes.csv", ("NC", "ADHD"), 200, 2.5),
    "ad": RealCohort("abide_aal116.npz", "abide_phenotypes.csv", ("NC",), 90, 2.0, "NYU"),
}


def iterate_series(path: Path, n_regions: int) -> Iterator[NDArray[np.float64]]:
    """Yield each subject's series, shape (n_timepoints, n_regions), of the first ``n_regions`` columns."""
    with np.load(path, allow_pickle=False) as stored:
        series, lengths = stored["series"], stored["n_timepoints"]
    for stop, length in zip(np.cumsum(lengths), lengths, strict=True):
        yield series[stop - length : stop, :n_regions].astype(np.float64)


def connections(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one subject's Fisher-z correlations, NaN at regions without signal, shape (n_connections,)."""
    z = fisher_z(functional_connectivity(series))
    silent = np.ptp(series, axis=0) == 0
    z[silent] = z[:, silent] = np.nan
    return z[np.triu_indices(len(z), 1)]


def power_spectrum(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean spectrum over regions, shape (N_FREQUENCIES,), with mean one and no power at zero."""
    power = (np.abs(np.fft.rfft(series - series.mean(axis=0), axis=0)) ** 2).mean(axis=1)
    frequencies = np.fft.rfftfreq(len(series))
    return np.interp(np.linspace(0, 0.5, N_FREQUENCIES), frequencies, power / power.mean())


@dataclass(frozen=True, eq=False)
class SubjectCovariance:
    """How subjects differ within groups.

    Attributes
    ----------
    directions : ndarray, shape (N_COMPONENTS, n_connections)
        Leading components, of unit length.
    variances : ndarray, shape (N_COMPONENTS,)
        Sample variances along them.
    noise : float
        Mean variance along the discarded components.
    remaining : float
        Total variance that the leading components leave.
    """

    directions: NDArray[np.float64]
    variances: NDArray[np.float64]
    noise: float
    remaining: float

    @property
    def components(self) -> NDArray[np.float64]:
        """Directions scaled by standard deviations, each variance less the noise (probabilistic PCA)."""
        return self.directions * np.sqrt(self.variances - self.noise)[:, None]


def subject_covariance(residuals: NDArray[np.float64], n_groups: int) -> SubjectCovariance:
    """Decompose the within-group residuals, shape (n_subjects, n_connections); each group's mean took one degree."""
    dof = len(residuals) - n_groups
    values, subjects = np.linalg.eigh(residuals @ residuals.T / dof)
    values, leading = values[::-1], subjects[:, ::-1][:, :N_COMPONENTS]
    share = float((leading**2).max())
    print(f"  largest share of one subject in a component: {share:.1%}")
    if share > LARGEST_SUBJECT_SHARE:
        raise SystemExit("One subject makes up too much of a component; use fewer components.")
    directions = leading.T @ residuals
    discarded = values[N_COMPONENTS:dof]
    return SubjectCovariance(
        directions=directions / np.linalg.norm(directions, axis=1, keepdims=True),
        variances=values[:N_COMPONENTS],
        noise=float(discarded.mean()),
        remaining=float(discarded.sum()),
    )


def shrunk_means(
    means: NDArray[np.float64], n_subjects: tuple[int, ...], covariance: SubjectCovariance
) -> NDArray[np.float64]:
    """Draw the means of two groups together by the share of their difference that chance explains.

    The observed difference is the true one plus the sampling error of the means. Taken as it is, that error
    would be a true difference in every drawn cohort, and the groups would be told apart far too easily. Each
    component of it, and what lies outside them, is multiplied by 1 − expected / observed square, or by 0.

    Parameters
    ----------
    means : ndarray, shape (n_groups, n_connections)
        One group is returned as it is.
    n_subjects : tuple of int
    covariance : SubjectCovariance

    Returns
    -------
    ndarray, shape (n_groups, n_connections)
    """
    if len(means) == 1:
        return means
    difference = means[1] - means[0]
    error = sum(1 / n for n in n_subjects)
    along = covariance.directions @ difference
    outside = difference - along @ covariance.directions
    kept_along = np.maximum(0, 1 - covariance.variances * error / along**2)
    kept_outside = max(0.0, 1 - covariance.remaining * error / float(outside @ outside))
    shrunk = (kept_along * along) @ covariance.directions + kept_outside * outside
    print(f"  kept of the group difference along components {np.round(kept_along, 2)}, outside {kept_outside:.2f}")
    return means.mean(axis=0) + np.outer([-0.5, 0.5], shrunk)


def simulated_strength(parameters: GroupParameters) -> float:
    """Return the mean |FC| of drawn subjects, averaged over groups."""
    upper = np.triu_indices(parameters.n_regions, 1)
    strengths = []
    for i in range(N_CALIBRATION):
        for group in parameters.groups:
            # Seeded by subject: the same people are drawn, whatever the degrees of freedom.
            series = draw_series(parameters, group, np.random.default_rng(i))
            strengths.append(np.abs(functional_connectivity(series)[upper]).mean())
    return float(np.mean(strengths))


def calibrate_individuality(parameters: GroupParameters, real_strength: float) -> GroupParameters:
    """Choose the Wishart draw's degrees of freedom so that drawn subjects have the real mean |FC|."""
    strengths = [simulated_strength(replace(parameters, individual_dof=dof)) for dof in CANDIDATE_DOF]
    for dof, strength in zip(CANDIDATE_DOF, strengths, strict=True):
        print(f"  {dof} degrees of freedom: mean |FC| {strength:.4f} (real {real_strength:.4f})")
    # Noise adds in proportion to 1 / dof; a line through all candidates evens out the chance in each.
    slope, without = np.polyfit(1 / np.array(CANDIDATE_DOF), strengths, 1)
    dof = round(slope / (real_strength - without))
    if not CANDIDATE_DOF[0] <= dof <= CANDIDATE_DOF[-1]:
        raise SystemExit(f"No candidate reaches the real mean |FC| of {real_strength:.4f}.")
    return replace(parameters, individual_dof=dof)


def estimate(real: RealCohort, folder: Path) -> GroupParameters:
    """Estimate one cohort's parameters."""
    phenotypes = pd.read_csv(folder / real.phenotypes)
    z, spectra, lengths = [], [], []
    for i, series in enumerate(iterate_series(folder / real.series, real.n_regions)):
        z.append(connections(series).astype(np.float32))
        lengths.append(len(series))
        if real.spectrum_site in (None, phenotypes.get("site", pd.Series()).get(i)):
            spectra.append(power_spectrum(series))
    stack = np.array(z)
    members = [np.flatnonzero(phenotypes["group"] == group) for group in real.groups]
    n_subjects = tuple(len(rows) for rows in members)
    means = np.array([np.nanmean(stack[rows], axis=0, dtype=np.float64) for rows in members])
    residuals = np.vstack([np.nan_to_num(stack[rows] - mean) for rows, mean in zip(members, means, strict=True)])
    covariance = subject_covariance(residuals, len(members))
    strengths = [np.nanmean(np.abs(np.tanh(stack[rows]))) for rows in members]
    uncalibrated = GroupParameters(
        groups=real.groups,
        n_subjects=n_subjects,
        mean_z=shrunk_means(means, n_subjects, covariance),
        components=covariance.components,
        individual_dof=CANDIDATE_DOF[0],
        spectrum=np.mean(spectra, axis=0),
        n_timepoints=int(np.median(lengths)),
        tr=real.tr,
    )
    return calibrate_individuality(uncalibrated, float(np.mean(strengths)))


def save(parameters: GroupParameters, path: Path) -> None:
    """Write parameters as a compressed ``.npz`` without objects, as small as their precision allows."""
    np.savez_compressed(
        path,
        groups=np.array(parameters.groups),
        n_subjects=np.array(parameters.n_subjects, dtype=np.int32),
        mean_z=parameters.mean_z.astype(np.float32),
        components=parameters.components.astype(np.float16),
        individual_dof=np.int32(parameters.individual_dof),
        spectrum=parameters.spectrum.astype(np.float32),
        n_timepoints=np.int32(parameters.n_timepoints),
        tr=np.float32(parameters.tr),
    )


def main(data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")]) -> None:
    """Estimate all cohorts and write them beside this file."""
    for name, real in COHORTS.items():
        print(name)
        parameters = estimate(real, data)
        target = Path(__file__).parent / f"{name}.npz"
        save(parameters, target)
        print(f"  {parameters.individual_dof} degrees of freedom; {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    typer.run(main)
