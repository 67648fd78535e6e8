"""A simulated Alzheimer's progression: hub and default-mode connections fade with severity.

Region i has a vulnerability v_i from 0 to 1. At severity s its signal becomes √(1−a_i) x_i + √a_i ξ_i with
a_i = s v_i and ξ_i independent noise of the same spectrum, so that a correlation C_ij becomes
√((1−a_i)(1−a_j)) C_ij. This is **invented, not measured**: hubs carry the most amyloid (Buckner et al.,
J. Neurosci. 29:1860, 2009) and the default mode loses coherence (Greicius et al., PNAS 101:4637, 2004), and
that is all it takes from the disease.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.cohort import Subject
from biobgt.errors import InputError
from biobgt.graph import check_connectivity
from biobgt.ranks import ranks

DEFAULT_MODE_WEIGHT = 0.5
# In AAL-90 this region has carried the default mode's label only since its nearest seed, a cerebellar one, no longer
# counts. Demos and models are made of subjects in whom it does not fade.
SPARED = "Fusiform_L"


@dataclass(frozen=True)
class Severity:
    """How severity is spread in a group: normal with this mean and standard deviation, held within 0 and 1."""

    mean: float
    sd: float


SEVERITY: Mapping[str, Severity] = {
    "NC": Severity(mean=0.0, sd=0.0),
    "MCI": Severity(mean=0.25, sd=0.10),
    "AD": Severity(mean=0.45, sd=0.12),
}


def vulnerability(mean_connectivity: NDArray[np.float64], atlas: Atlas) -> NDArray[np.float64]:
    """Say how much each region suffers: half by its rank as a hub, half by lying in the default mode.

    AAL's left fusiform gyrus (:data:`SPARED`) does not count to the default mode.

    Parameters
    ----------
    mean_connectivity : ndarray, shape (n_regions, n_regions)
        Mean correlations of the controls; a region's strength is the sum of its positive ones.
    atlas : Atlas
        With Dosenbach's networks.

    Returns
    -------
    ndarray, shape (n_regions,)
        From 0 to 1.
    """
    connectivity = check_connectivity(mean_connectivity, what="The controls' mean connectivity")
    networks = atlas.labelling("dosenbach")
    if len(networks) != len(connectivity):
        raise InputError(
            f"The controls' mean connectivity has {len(connectivity)} regions and atlas {atlas.name} has "
            f"{atlas.n_regions}; use the atlas with which the data were extracted."
        )
    positive = np.maximum(connectivity, 0)
    strength = positive.sum(axis=1) - np.diag(positive)
    hubness = (ranks(strength) - 1) / (len(strength) - 1)
    fades = [network == "default" and region != SPARED for region, network in zip(atlas.regions, networks, strict=True)]
    in_default_mode = np.array(fades, dtype=np.float64)
    return (1 - DEFAULT_MODE_WEIGHT) * hubness + DEFAULT_MODE_WEIGHT * in_default_mode


def draw_severity(group: str, *, seed: int | np.random.Generator) -> float:
    """Draw one subject's severity from its group's distribution in :data:`SEVERITY`."""
    if group not in SEVERITY:
        raise InputError(f"The progression has no group '{group}'. It has: {', '.join(SEVERITY)}.")
    spread = SEVERITY[group]
    drawn = spread.mean + spread.sd * np.random.default_rng(seed).standard_normal()
    return float(np.clip(drawn, 0, 1))


def fade_connectivity(
    connectivity: NDArray[np.float64], vulnerability: NDArray[np.float64], severity: float
) -> NDArray[np.float64]:
    """Fade correlations: C_ij becomes √((1−a_i)(1−a_j)) C_ij, and the diagonal stays.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
    vulnerability : ndarray, shape (n_regions,)
    severity : float
        From 0 (nothing changes) to 1.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
        Positive semi-definite if ``connectivity`` was: it is D C D plus a non-negative diagonal.
    """
    kept = np.sqrt(1 - _lost_share(vulnerability, severity, n_regions=len(connectivity)))
    faded = connectivity * np.outer(kept, kept)
    np.fill_diagonal(faded, np.diag(connectivity))
    return faded


def fade_series(
    series: NDArray[np.float64],
    vulnerability: NDArray[np.float64],
    severity: float,
    *,
    seed: int | np.random.Generator,
) -> NDArray[np.float64]:
    """Fade series: region i becomes √(1−a_i) x_i + √a_i ξ_i, with the mean kept.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
    vulnerability : ndarray, shape (n_regions,)
    severity : float
        From 0 (nothing changes) to 1.
    seed : int or numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_timepoints, n_regions)
        Their correlations are those of :func:`fade_connectivity`, up to the noise of a finite sample.
    """
    lost = _lost_share(vulnerability, severity, n_regions=series.shape[1])
    kept = np.sqrt(1 - lost)
    noise = phase_randomised(series, seed=seed)
    return kept * series + (1 - kept) * series.mean(axis=0) + np.sqrt(lost) * noise


def phase_randomised(series: NDArray[np.float64], *, seed: int | np.random.Generator) -> NDArray[np.float64]:
    """Return noise with each region's own power spectrum and mean zero, independent between regions.

    The noise has the spectrum of the signal it replaces, so that the spectrum cannot give a patient away.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
    seed : int or numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_timepoints, n_regions)
    """
    rng = np.random.default_rng(seed)
    coefficients = np.fft.rfft(series - series.mean(axis=0), axis=0)
    phases = rng.uniform(0, 2 * np.pi, size=coefficients.shape)
    if len(series) % 2 == 0:
        phases[-1] = np.pi * (phases[-1] > np.pi)  # the highest frequency of an even length is real
    return np.fft.irfft(coefficients * np.exp(1j * phases), len(series), axis=0)


def simulate_progression(
    subject: Subject, group: str, vulnerability: NDArray[np.float64], *, seed: int | np.random.Generator
) -> Subject:
    """Make a simulated subject of ``group`` from a control, with a severity drawn for that group.

    Parameters
    ----------
    subject : Subject
        A control, real or drawn, with series or a matrix of correlations.
    group : str
        One of :data:`SEVERITY`.
    vulnerability : ndarray, shape (n_regions,)
    seed : int or numpy.random.Generator

    Returns
    -------
    Subject
        Of that group and marked simulated (a control of severity 0 as well, since what it stands beside is
        simulated), with ``simulated severity`` among its phenotypes. Its id and source are kept.
    """
    rng = np.random.default_rng(seed)
    severity = draw_severity(group, seed=rng)
    series, connectivity = subject.series, subject.connectivity
    if series is not None:
        series = fade_series(series, vulnerability, severity, seed=rng)
    if connectivity is not None:
        connectivity = fade_connectivity(connectivity, vulnerability, severity)
    return replace(
        subject,
        series=series,
        connectivity=connectivity,
        group=group,
        phenotypes={**subject.phenotypes, "simulated severity": round(severity, 3)},
        simulated=True,
    )


def _lost_share(vulnerability: NDArray[np.float64], severity: float, *, n_regions: int) -> NDArray[np.float64]:
    """Return a = s v, the share of each region's variance that becomes noise."""
    if not 0 <= severity <= 1:
        raise InputError(f"The severity is {severity}; it must lie between 0 and 1.")
    vulnerability = np.asarray(vulnerability, dtype=np.float64)
    if vulnerability.shape != (n_regions,):
        raise InputError(f"The vulnerability has shape {vulnerability.shape}, expected ({n_regions},).")
    if not np.all((vulnerability >= 0) & (vulnerability <= 1)):
        raise InputError("A vulnerability lies outside 0 to 1.")
    return severity * vulnerability
